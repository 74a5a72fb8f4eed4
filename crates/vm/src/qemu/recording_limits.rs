//! Where recording a path stops: the recorder plugin is told, and says which bound it has met.

/// Bounds on what is recorded of each path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordingLimits {
    /// Windows that the probe runs before the first that it samples.
    pub skip: u64,
    /// Begin markers after which windows count that lie between two points of the kernel.
    pub warm: u64,
    /// Windows that are recorded of each path if it has so many: between two points of the kernel
    /// there may be several in an execution. A path's own are as many as its samples.
    pub windows: u64,
    /// Bytes after which recording stops.
    pub bytes: u64,
    /// Instructions after which a window counts as one that never ends.
    pub most: u64,
}
