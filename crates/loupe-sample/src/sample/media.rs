//! The smallest picture and sound that a host may take for real, as base64.

/// A PNG of 16 by 16 pixels: a lens with its handle.
pub const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAATUlEQVR42mP4TyJgQOboN7xFQzg1YCrFpQ1dA1YL0TXgcQCmFEIDLl8OJQ0keJrkYCUYcVhswJM00PQwEJPgkPUwEJlI4XoYiE/YEA0A62iJS/fQxVYAAAAASUVORK5CYII=";

/// A WAV of 20 ms: 440 Hz, 8 bits, 8,000 samples a second.
pub(crate) const WAV: &str = "UklGRsQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YaAAAACAnrnN2NjOu6GCZUk1KScwQ117mbTK19nRv6aIak44KicuP1h1k7DH1dnTw6uOcFM7LCYsO1NwjqvD09nVx7CTdVg/LicqOE5qiKa/0dnXyrSZe11DMCcpNUllgqG7ztjYzbmegGJHMygoMkVffpu3y9fZ0L2jhWdMNiknL0FaeJayyNbZ0sGoi21QOSsnLT1VcpCtxdTa1MWtkHJVPS0n";
