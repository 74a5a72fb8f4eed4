//! The steps of `plan`.

use super::args::{PlanArgs, PlanVerb};
use super::{build, cells, draft, emit, merge, recheck, status};
use crate::failure::{Exit, Failure};
use crate::screen::output::Screen;

/// Does what the user chose.
pub(crate) fn run(args: &PlanArgs, screen: &Screen) -> Result<Exit, Failure> {
    match &args.verb {
        None => draft::run(&args.draft, screen),
        Some(PlanVerb::Build(args)) => build::run(args, screen),
        Some(PlanVerb::Run(args)) => cells::run(args, screen),
        Some(PlanVerb::Status(args)) => status::run(args, screen),
        Some(PlanVerb::Merge(args)) => merge::run(args, screen),
        Some(PlanVerb::Recheck(args)) => recheck::run(args, screen),
        Some(PlanVerb::Emit(args)) => emit::run(args),
    }
}

#[cfg(test)]
mod tests {
    use crate::schema_test::assert_published;
    use pathmeter_plan::{FailureRecord, Finding, Plan, Status};

    #[test]
    fn the_schemas_of_plans_are_published() {
        assert_published::<Plan>("pathmeter.plan-1");
        assert_published::<FailureRecord>("pathmeter.plan-failure-1");
        assert_published::<Finding>("pathmeter.plan-finding-1");
        assert_published::<Status>("pathmeter.plan-status-1");
    }
}
