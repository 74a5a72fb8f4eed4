//! Where the plan is: the file `/plan`.

use pathmeter_probes::{
    sys::{self, CStr, flag},
    text::Text,
};
use pathmeter_wire::plan::{MAX_PLAN, Plan};

use crate::trouble::Trouble;

const PLACE: &[u8] = b"/plan\0";

/// Whether the guest has one: if not, it has a program of the user's.
#[cfg(feature = "init")]
pub(crate) fn is_there() -> bool {
    sys::open(CStr::new(PLACE), flag::O_RDONLY, 0).and_then(sys::close).is_ok()
}

pub(crate) fn read() -> Result<Plan, Trouble> {
    // Room for a byte too many, so that a plan too long is seen to be.
    let mut text = [0; MAX_PLAN + 1];
    let length = sys::open(CStr::new(PLACE), flag::O_RDONLY, 0)
        .and_then(|fd| {
            let got = sys::read(fd, &mut text);
            let _ = sys::close(fd);
            got
        })
        .map_err(|error| -> Trouble {
            Text::format(format_args!("/plan can't be read (error {error})"))
        })?;
    parse_plan(text.get(..length).unwrap_or_default())
}

fn parse_plan(text: &[u8]) -> Result<Plan, Trouble> {
    Plan::read(text).map_err(|error| Text::format(format_args!("/plan: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pathmeter_probes::Suite;

    #[test]
    fn a_plan_that_is_malformed_is_an_abort_that_names_the_line() {
        let trouble = parse_plan(b"suite exact\nstarts\n").unwrap_err();
        assert_eq!(trouble.as_bytes(), b"/plan: line 2 of the plan is not a `runs` line");
        assert!(parse_plan(&[b'x'; MAX_PLAN + 1]).is_err());
        let plan = Plan::new(Suite::Elapsed, 1);
        assert_eq!(parse_plan(plan.to_string().as_bytes()).unwrap(), plan);
    }
}
