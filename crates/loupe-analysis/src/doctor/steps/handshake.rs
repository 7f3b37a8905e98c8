//! Both sides agree on a revision of the protocol.

use crate::doctor::{ConnectionEvidence, DoctorStep, Look, StepGroup};

pub const STEP: DoctorStep = DoctorStep {
    id: "handshake",
    title: "Discovery and handshake",
    group: StepGroup::Protocol,
    applies: |_| true,
    look,
};

/// A refused `server/discover` is normal for a server up to 2025-11-25.
fn look(evidence: &ConnectionEvidence<'_>) -> Option<Look> {
    let server = evidence.server?;
    let look = evidence.look("negotiate")?;
    Some(Look {
        received: format!("{}, {}", server.protocol_version, server.heading()),
        doubt: None,
        ..look
    })
}
