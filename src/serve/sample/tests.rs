//! The sample through its own front door: one message in, exact bytes out.

use super::*;
