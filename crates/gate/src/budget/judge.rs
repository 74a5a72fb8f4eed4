//! What a budget makes of one path.

use pathmeter_model::{
    BudgetOutcome, BudgetRow, Measurement, PathComparison, PathResult, Status, Unit, Verdict,
};
use pathmeter_trace::Event;

use super::{Budget, Date, Increase, Limits, Rule, Section, is_name};

/// The numbers of one event that limits are compared with.
#[derive(Clone, Copy, Default)]
pub(crate) struct Numbers {
    /// Base's value, and by how much new's is higher; 0 if it is not. None if they were not
    /// compared.
    pub(crate) compared: Option<Compared>,
    /// New's highest typical value, and whether that is a lower bound.
    pub(crate) highest: Option<(u64, bool)>,
}

#[derive(Clone, Copy)]
pub(crate) struct Compared {
    pub(crate) base: u64,
    pub(crate) new: u64,
    /// None if it is out of bounds.
    pub(crate) increase: Option<u64>,
    /// Whether it may be more: new's value is a lower bound.
    pub(crate) open: bool,
}

/// Both sides of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Sides<'a>([&'a Measurement; 2]);

/// A path on both sides, and its side's result.
type Paths<'a> = [Option<(&'a Measurement, &'a PathResult)>; 2];

impl<'a> Sides<'a> {
    pub fn of_paths(sides: [&'a Measurement; 2]) -> Self {
        Self(sides)
    }

    fn are_of_one_qemu(self) -> bool {
        let [base, new] = self.0.map(|side| &side.configuration.qemu);
        base == new
    }

    fn find(self, name: &str) -> Paths<'a> {
        self.0.map(|side| {
            let path = side.paths.iter().find(|path| path.path == name)?;
            Some((side, path))
        })
    }
}

impl Budget {
    /// The rules' outcomes for the path of this row, of which the sides are these.
    pub fn judge(&self, row: &PathComparison, sides: Sides<'_>, today: Date) -> Vec<BudgetRow> {
        let events = std::iter::once(None).chain(Event::all().map(Some));
        let rules = events.filter_map(|event| self.section(row).rule(&row.path, event));
        let (paths, one_qemu) = (sides.find(&row.path), sides.are_of_one_qemu());
        let judged = rules.filter_map(|rule| judge_rule(rule, row, paths, one_qemu));
        let section = self.section(row);
        let over = |row: BudgetRow| match row.outcome {
            BudgetOutcome::Over => section.accept(row, today),
            _ => row,
        };
        judged.map(over).collect()
    }

    /// Judges the acceptance of a path that is worse in something that no rule is about: accepted,
    /// or no longer. None if nothing accepts it.
    pub fn judge_acceptance(&self, row: &PathComparison, today: Date) -> Option<BudgetRow> {
        let acceptance = self.section(row).acceptance(&row.path)?;
        let judged = BudgetRow {
            path: row.path.clone(),
            event: row.unit.to_string(),
            rule: None,
            line: acceptance.line,
            base: row.base,
            new: row.new,
            max: None,
            max_increase: None,
            outcome: BudgetOutcome::Over,
            reason: None,
            expires: None,
        };
        Some(self.section(row).accept(judged, today))
    }

    /// `row` without what rules are about: what the gate judges without a budget.
    pub fn uncovered(&self, row: &PathComparison) -> PathComparison {
        let (mut rest, section) = (row.clone(), self.section(row));
        rest.events.retain(|event| {
            let event = Event::from_name(&event.event);
            event.is_none_or(|event| section.rule(&row.path, Some(event)).is_none())
        });
        if section.rule(&row.path, None).is_some() && rest.verdict != Verdict::Broken {
            rest.verdict = Verdict::Same;
            rest.difference = None;
        }
        rest
    }
}

impl Section {
    /// `row`, which is over its limits, as far as that is accepted.
    pub(crate) fn accept(&self, row: BudgetRow, today: Date) -> BudgetRow {
        let Some(acceptance) = self.acceptance(&row.path) else { return row };
        let holds = today <= acceptance.expires;
        BudgetRow {
            outcome: if holds { BudgetOutcome::Accepted } else { BudgetOutcome::Expired },
            reason: Some(acceptance.reason.clone()),
            expires: Some(acceptance.expires.to_string()),
            ..row
        }
    }
}

/// Judges a path by one rule; None where a pattern also matches a path that has no such numbers.
fn judge_rule(
    rule: &Rule,
    row: &PathComparison,
    sides: Paths<'_>,
    one_qemu: bool,
) -> Option<BudgetRow> {
    let numbers = match rule.event {
        None => own_numbers(row, sides[1].map(|(_, path)| path)),
        // What two versions of QEMU count differently is not compared.
        Some(event) if event.depends_on_qemu() && !one_qemu => {
            Numbers { compared: None, ..event_numbers(event, row, sides) }
        }
        Some(event) => event_numbers(event, row, sides),
    };
    let outcome = outcome(rule.limits, numbers);
    if outcome == BudgetOutcome::NotJudged && !must_be_judged(rule, sides) {
        return None;
    }
    let compared = numbers.compared;
    // The highest value is shown where it is what exceeds, or there is no other; else the pair that
    // every table shows.
    let highest = numbers.highest.map(|(value, _)| value);
    let highest = highest.zip(rule.limits.max).filter(|(value, max)| {
        value > max || rule.limits.max_increase.is_none() || compared.is_none()
    });
    Some(BudgetRow {
        path: row.path.clone(),
        event: rule.event.map_or_else(|| row.unit.to_string(), |event| event.word().to_owned()),
        rule: Some(rule.names.pattern()),
        line: rule.line,
        base: compared.map(|compared| compared.base),
        new: highest.map(|(value, _)| value).or(compared.map(|compared| compared.new)),
        max: rule.limits.max,
        max_increase: rule.limits.max_increase.map(|increase| increase.to_string()),
        outcome,
        reason: (outcome == BudgetOutcome::NotJudged).then(|| why_not(row, rule.event.is_some())),
        expires: None,
    })
}

/// A path that a rule names in full, or that either side could run.
fn must_be_judged(rule: &Rule, sides: Paths<'_>) -> bool {
    let has_numbers =
        |(_, path): (_, &PathResult)| path.status == Status::Ok && path.unit != Unit::Check;
    is_name(&rule.names) || sides.into_iter().flatten().any(has_numbers)
}

fn why_not(row: &PathComparison, event: bool) -> String {
    match &row.reason {
        Some(reason) => reason.clone(),
        None if row.unit == Unit::Check => "a check has no cost".to_owned(),
        None if event => "the event was not counted on both sides by one QEMU".to_owned(),
        None => "a value is a lower bound".to_owned(),
    }
}

fn own_numbers(row: &PathComparison, new: Option<&PathResult>) -> Numbers {
    let measured = new.filter(|path| path.status == Status::Ok);
    let highest = measured.and_then(|path| {
        let highest = path.highest()?;
        Some((highest, path.is_lower_bound(highest)))
    });
    let compared = match (row.verdict, row.base, row.new) {
        (Verdict::Unsupported | Verdict::Broken, ..) | (_, None, _) | (_, _, None) => None,
        (verdict, Some(base), Some(new)) => {
            let increase = match verdict {
                // Rows that are the same may still differ by a few instructions, of layout.
                Verdict::Same if row.work.is_some() => Some(0),
                verdict => increase(verdict, row.difference),
            };
            Some(Compared { base, new, increase, open: row.new_at_least })
        }
    };
    Numbers { compared, highest }
}

/// Of an event. One that is not among those that differ has the same numbers on both sides.
fn event_numbers(event: Event, row: &PathComparison, sides: Paths<'_>) -> Numbers {
    let [base, new] = sides.map(|side| {
        let counts = |it: &(&Measurement, &PathResult)| it.0.has_counted(it.1, event);
        let (_, path) = side.filter(|(_, path)| path.status == Status::Ok).filter(counts)?;
        let typical = path.events.as_ref()?.histogram(event).typical();
        typical.last().copied()
    });
    let highest = new.map(|new| (new, false));
    let differs = row.events.iter().find(|differing| differing.event == event.word());
    let is_compared = !matches!(row.verdict, Verdict::Unsupported | Verdict::Broken);
    let compared = base.zip(new).filter(|_| is_compared).map(|(base, new)| match differs {
        None => Compared { base, new, increase: Some(0), open: false },
        Some(differs) => Compared {
            base: differs.base,
            new: differs.new,
            increase: increase(differs.verdict, Some(differs.difference)),
            open: false,
        },
    });
    Numbers { compared, highest }
}

/// A new mode counts as an increase wherever it lies: how often it comes is not known.
pub(crate) fn increase(verdict: Verdict, difference: Option<i64>) -> Option<u64> {
    match (verdict, difference) {
        (Verdict::ModeAppeared, Some(difference)) => Some(difference.unsigned_abs()),
        (Verdict::Lower, _) => Some(0),
        (_, difference) => Some(u64::try_from(difference?).unwrap_or(0)),
    }
}

pub(crate) fn outcome(limits: Limits, numbers: Numbers) -> BudgetOutcome {
    // True: exceeded. None: there is nothing to judge.
    let highest = limits.max.map(|max| match numbers.highest {
        Some((highest, _)) if highest > max => Some(true),
        Some((_, true)) | None => None,
        Some((_, false)) => Some(false),
    });
    let increase = limits.max_increase.map(|most| {
        let compared = numbers.compared?;
        let exceeded = exceeds(compared, most);
        if !exceeded && compared.open { None } else { Some(exceeded) }
    });
    let judged: Vec<Option<bool>> = highest.into_iter().chain(increase).collect();
    if judged.contains(&Some(true)) {
        BudgetOutcome::Over
    } else if judged.contains(&None) {
        BudgetOutcome::NotJudged
    } else {
        BudgetOutcome::Within
    }
}

fn exceeds(compared: Compared, most: Increase) -> bool {
    // Out of bounds is more than any limit.
    let Some(increase) = compared.increase else { return true };
    match most {
        Increase::Number(most) => increase > most,
        // A percentage of nothing is nothing.
        Increase::Thousandths(parts) => {
            u128::from(increase) * 100_000 > u128::from(compared.base) * u128::from(parts)
        }
    }
}
