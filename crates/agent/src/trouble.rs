//! Why the agent can't go on.

use pathmeter_probes::text::Text;

/// Why the agent can't go on, for the host's user.
pub(crate) type Trouble = Text<200>;
