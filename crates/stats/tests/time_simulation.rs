//! Sessions with known truth, simulated: how often intervals contain it, what is called slower or
//! faster though nothing differs, and how often what differs is found.
//!
//! The kinds of noise are those of small virtual machines on which system calls were timed: a level
//! that switches between runs, and now and then between the sides of a pair; delays that only add;
//! drift and steps while a session runs; a clock of coarse steps. Everything is drawn from seeds.
//! `PATHMETER_SOAK=1` simulates many more sessions, and prints the figures.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests")]
#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers of pairs and tries; ticks of a batch"
)]

use pathmeter_stats::time::{
    Cause, Finite, Interval, Judgement, Location, Numbers, PathLevels, PathPairs, Quantile, Rules,
    Verdict, bootstrap, hodges_lehmann, is_narrower, judge_family, judge_unpaired_family, level,
    log_ratio, median, quantile,
};

/// 1 % as a logarithm of a ratio, nearly.
const PERCENT: f64 = 0.01;

/// One path of a family of `rules.family`.
fn judge(pairs: &[f64], null: &[f64], rules: &Rules) -> Judgement {
    judge_family(&[PathPairs { pairs, null }], rules)[0]
}

/// How one side of a pair is disturbed, and what both sides of it share.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Noise {
    /// Normal: within one process of a host at rest.
    Calm,
    /// Normal, five times as much: between processes.
    Between,
    /// Fifty times as much: between processes whose memory lies elsewhere each time.
    Rough,
    /// A host of two levels 25 % apart. A pair shares its level, but for one in 25.
    Levels,
    /// One replicate of ten is disturbed ten times as much.
    Outliers,
    /// Delays that only add, on either side.
    Delays,
    /// The level rises by 5 % in the session, and by 10 % at once in its middle.
    Drift,
    /// Calm, and a side is 60 batches, whose times are multiples of 26 ticks of 18,000.
    Coarse,
}

use Noise::{Between, Calm, Coarse, Delays, Drift, Levels, Outliers, Rough};

const NOISES: [Noise; 7] = [Calm, Between, Levels, Outliers, Delays, Drift, Coarse];

/// A generator of sessions with this noise.
struct Host {
    numbers: Numbers,
    noise: Noise,
}

impl Host {
    fn of(noise: Noise, seed: u64) -> Self {
        Self { numbers: Numbers::of((noise as u64) << 32 | seed), noise }
    }

    /// Between 0 and 1, neither of them.
    fn share(&mut self) -> f64 {
        (self.numbers.below(1 << 40) as f64 + 0.5) / (1_u64 << 40) as f64
    }

    fn one_in(&mut self, many: usize) -> bool {
        self.numbers.below(many) == 0
    }

    /// Standard normal, by Box and Muller's method.
    fn normal(&mut self) -> f64 {
        let (radius, angle) = ((-2.0 * self.share().ln()).sqrt(), self.share());
        radius * (std::f64::consts::TAU * angle).cos()
    }

    /// One side of a pair, disturbed so that a pair's difference has a standard deviation of 0.1 %
    /// if it is calm.
    fn side(&mut self) -> f64 {
        let calm = 0.1 * PERCENT / 2.0_f64.sqrt();
        let disturbed = self.one_in(10);
        match self.noise {
            Between => 5.0 * calm * self.normal(),
            Rough => 50.0 * calm * self.normal(),
            Outliers if disturbed => 10.0 * calm * self.normal(),
            Delays => -calm * self.share().ln(),
            _ => calm * self.normal(),
        }
    }

    /// What the level of a pair is as its first and as its second side runs, at this share of the
    /// session.
    fn level(&mut self, at: f64, step: f64) -> [f64; 2] {
        let high = |is: bool| if is { 25.0 * PERCENT } else { 0.0 };
        match self.noise {
            Levels => {
                let first = self.one_in(2);
                let second = if self.one_in(25) { self.one_in(2) } else { first };
                [high(first), high(second)]
            }
            Drift => [at, at + step / 2.0].map(|at| 5.0 * PERCENT * at + high(at > 0.5) / 2.5),
            _ => [0.0, 0.0],
        }
    }

    /// The log ratios of so many pairs whose second side takes longer by `effect`.
    fn pairs(&mut self, count: usize, effect: f64) -> Vec<f64> {
        (0..count).map(|pair| self.pair(pair, count, effect)).collect()
    }

    fn pair(&mut self, pair: usize, count: usize, effect: f64) -> f64 {
        let [mut base, mut new] = self.level(pair as f64 / count as f64, 1.0 / count as f64);
        if self.one_in(2) {
            (base, new) = (new, base);
        }
        if self.noise == Coarse {
            let (base, new) = (self.batches(base), self.batches(new + effect));
            return log_ratio(base, new).unwrap();
        }
        new + self.side() + effect - base - self.side()
    }

    /// The level of a process's batches, in ticks. They vary by two steps of the clock, so that
    /// processes vary by about 0.07 %.
    fn batches(&mut self, centre: f64) -> f64 {
        let mut readings = self.readings(18_000.0 / 26.0, centre, 0.28 * PERCENT);
        26.0 * level(&mut readings, 1).unwrap()
    }

    /// What the clock reads of 60 batches of so many steps, in steps.
    fn readings(&mut self, steps: f64, centre: f64, spread: f64) -> Vec<u64> {
        let batches = (0..60).map(|_| steps * (centre + spread * self.normal()).exp());
        batches.map(|steps| steps.round() as u64).collect()
    }

    /// The levels of so many boots.
    fn boots(&mut self, count: usize, effect: f64) -> Vec<f64> {
        (0..count).map(|_| effect + self.side() + self.level(0.0, 0.0)[0]).collect()
    }
}

fn soak() -> bool {
    std::env::var_os("PATHMETER_SOAK").is_some_and(|value| value == "1")
}

/// Few tries, or many if there is time.
fn tries(few: usize, many: usize) -> usize {
    if soak() { many } else { few }
}

/// The share of tries in which something holds, each with a seed of its own.
fn share(tries: usize, holds: impl Fn(u64) -> bool) -> f64 {
    (0..tries).filter(|seed| holds(*seed as u64 + 1)).count() as f64 / tries as f64
}

/// An interval of 95 % is one if it contains the truth in 93 to 97 % of tries.
#[track_caller]
fn assert_covers(what: &str, tries: usize, interval: impl Fn(u64) -> Interval, truth: f64) {
    let covered = share(tries, |seed| interval(seed).contains(truth));
    println!("{what}: {:.1} % of {tries} intervals of 95 % contain the truth", 100.0 * covered);
    assert!((0.93..=0.97).contains(&covered), "{what}: {covered}");
}

#[test]
fn intervals_of_pairs_contain_the_truth_as_often_as_they_say() {
    let of = |noise, count, seed| {
        let pairs = Host::of(noise, seed).pairs(count, PERCENT);
        Location::of_pairs(&Finite::of(&pairs)).unwrap().interval(0.95).unwrap()
    };
    // Of all kinds together, since few tries of each say too little.
    let any = |seed: u64| of(NOISES[seed as usize % NOISES.len()], 20, seed);
    assert_covers("any noise, 20 pairs", 2000, any, PERCENT);
    for noise in NOISES.into_iter().filter(|_| soak()) {
        for count in [20, 90] {
            let what = format!("{noise:?}, {count} pairs");
            assert_covers(&what, 10_000, |seed| of(noise, count, seed), PERCENT);
        }
    }
}

#[test]
fn errors_of_rounding_cancel_if_a_reading_is_spread_over_its_step() {
    let covered = |statistic: fn(&mut [u64]) -> f64| {
        share(tries(200, 2000), |seed| {
            let (mut host, truth) = (Host::of(Calm, seed), PERCENT * seed as f64 / 2000.0);
            let mut side = |centre| statistic(&mut host.readings(2000.3, centre, 0.1 * PERCENT));
            let pairs: Vec<f64> =
                (0..20).map(|_| log_ratio(side(0.0), side(truth)).unwrap()).collect();
            let location = Location::of_pairs(&Finite::of(&pairs)).unwrap();
            location.interval(0.95).unwrap().contains(truth)
        })
    };
    let spread = covered(|readings| level(readings, 1).unwrap());
    let rounded = covered(|readings| quantile(readings, Quantile::P25).unwrap() as f64);
    println!("batches of 2,000 steps that vary by two: {spread} contain the truth; {rounded} else");
    assert!(spread >= 0.93 && rounded < 0.85, "{spread} {rounded}");
}

#[test]
fn intervals_of_sides_contain_the_truth_as_often_as_they_say() {
    let of = |noise, count, seed| {
        let mut host = Host::of(noise, seed);
        let base = Finite::of(&host.boots(count, 0.0));
        let new = Finite::of(&host.boots(count, PERCENT));
        Location::of_sides(&base, &new).unwrap().interval(0.95).unwrap()
    };
    let noises = [Calm, Levels, Outliers, Delays];
    let any = |seed: u64| of(noises[seed as usize % noises.len()], 10, seed);
    assert_covers("any noise, 10 boots a side", 2000, any, PERCENT);
    for noise in noises.into_iter().filter(|_| soak()) {
        for count in [10, 30] {
            let what = format!("{noise:?}, {count} boots a side");
            assert_covers(&what, 10_000, |seed| of(noise, count, seed), PERCENT);
        }
    }
}

/// As a session goes on: 30 pairs, and a quarter more while the interval is wider than 2 %.
fn until_narrow(host: &mut Host, effect: f64) -> Vec<f64> {
    let (mut pairs, mut look) = (Vec::new(), 30);
    while pairs.len() < 300 {
        let more = host.pairs(look - pairs.len(), effect);
        pairs.extend(more);
        if is_narrower(&pairs, 2.0 * PERCENT) {
            break;
        }
        look = (look + look / 4).min(300);
    }
    pairs
}

#[test]
fn intervals_that_grew_until_they_were_narrow_contain_the_truth_as_often() {
    let session = |seed| until_narrow(&mut Host::of(Rough, seed), PERCENT);
    let grew = (1..=20).filter(|seed| session(*seed).len() > 30).count();
    assert!(grew > 18, "{grew} of 20 sessions went on");
    let of =
        |seed| Location::of_pairs(&Finite::of(&session(seed))).unwrap().interval(0.95).unwrap();
    assert_covers("until narrow", tries(400, 10_000), of, PERCENT);
}

#[test]
fn nothing_is_found_because_a_session_went_on_until_intervals_were_narrow() {
    let (sessions, rules) = (tries(100, 10_000), Rules::default());
    let mut found = 0;
    for seed in 0..sessions as u64 {
        let mut host = Host::of(Rough, seed + 1);
        let (pairs, null) = (until_narrow(&mut host, 0.0), until_narrow(&mut host, 0.0));
        // Each at the level of one path, ten times what the table of one has.
        let judgement = judge(&pairs, &null, &Rules { alpha: 10.0 * rules.alpha, ..rules });
        found += usize::from(matches!(judgement.verdict, Verdict::Slower | Verdict::Faster));
    }
    println!("until narrow: {found} of {sessions} sessions of no difference found one at 1 %");
    assert!(found <= sessions / 50, "{found} of {sessions}");
}

type Statistic = fn(&Finite) -> Option<f64>;

#[test]
fn intervals_of_levels_contain_the_truth_as_often_as_they_say() {
    if !soak() {
        println!("left out: it takes long; PATHMETER_SOAK=1 runs it (make soak)");
        return;
    }
    let statistics: [(&str, Statistic); 2] = [("median", median), ("centre", hodges_lehmann)];
    for (what, statistic) in statistics {
        let of = |seed| {
            let levels = Finite::of(&Host::of(Calm, seed).boots(30, 5.0));
            bootstrap(&levels, statistic, 0.95, seed).unwrap()
        };
        assert_covers(&format!("{what} of 30 levels"), 3000, of, 5.0);
    }
}

/// How many paths got which verdict.
#[derive(Debug, Default, PartialEq)]
struct Tally {
    found: usize,
    equal: usize,
    /// By cause, in their order.
    undecidable: [usize; 4],
}

impl Tally {
    fn add(&mut self, judgement: &Judgement) {
        match judgement.verdict {
            Verdict::Slower | Verdict::Faster => self.found += 1,
            Verdict::Equal => self.equal += 1,
            Verdict::Undecidable(cause) => self.undecidable[cause as usize] += 1,
        }
    }

    fn paths(&self) -> usize {
        self.found + self.equal + self.undecidable.iter().sum::<usize>()
    }
}

/// The paths of a session.
const PATHS: usize = 100;

/// Whether a path would be found with this alpha.
fn is_found(judgement: &Judgement, alpha: f64) -> bool {
    let shifted = judgement.verdict == Verdict::Undecidable(Cause::NullShifted);
    let estimate = judgement.estimate.unwrap().abs();
    !shifted && judgement.p <= alpha && estimate > judgement.reach.unwrap()
}

/// A session whose paths do not differ.
fn still_session(noise: Noise, seed: u64, count: usize) -> Vec<Judgement> {
    let mut host = Host::of(noise, seed);
    let mut pairs = || host.pairs(count, 0.0);
    let paths: Vec<_> = (0..PATHS).map(|_| (pairs(), pairs())).collect();
    let paths: Vec<_> = paths.iter().map(|(pairs, null)| PathPairs { pairs, null }).collect();
    judge_family(&paths, &Rules::default())
}

/// How many sessions of a thousand may find something where nothing is: one is expected; more than
/// five come once in 1,700 times.
const FALSE_OF_1000: usize = 5;

#[test]
fn what_does_not_differ_is_not_found_and_at_rest_is_equal() {
    for noise in NOISES {
        // 1,000 paths of a calm host; a session of each other.
        let sessions = tries(if noise == Calm { 10 } else { 1 }, 1000);
        let (mut tally, mut mistaken, mut mistaken_at_more) = (Tally::default(), 0, 0);
        for seed in 0..sessions {
            let session = still_session(noise, seed as u64, 20);
            for judgement in &session {
                tally.add(judgement);
            }
            mistaken += usize::from(session.iter().any(|one| is_found(one, 0.001)));
            mistaken_at_more += usize::from(session.iter().any(|one| is_found(one, 0.01)));
        }
        println!(
            "{noise:?}, nothing differs, {sessions} sessions, {mistaken} mistaken \
             ({mistaken_at_more} with an alpha of 0.01): {tally:?}"
        );
        assert!(mistaken <= if sessions < 1000 { 0 } else { FALSE_OF_1000 }, "{noise:?}");
        let undecidable: usize = tally.undecidable.iter().sum();
        assert!(undecidable * 50 <= tally.paths(), "{noise:?}: {tally:?}");
    }
}

/// The share of simulated sessions in which the one path that differs by `effect` is found.
fn simulate_detection_rate(noise: Noise, count: usize, effect: f64, sessions: usize) -> f64 {
    let rules = Rules { family: PATHS, ..Rules::default() };
    let at = |alpha| {
        share(sessions, |seed| {
            let mut host = Host::of(noise, seed);
            let (pairs, null) = (host.pairs(count, effect), host.pairs(count, 0.0));
            is_found(&judge(&pairs, &null, &rules), alpha)
        })
    };
    let (found, percent) = (at(rules.alpha), effect / PERCENT);
    print!("{noise:?}, {count} pairs, one of {PATHS} paths +{percent} %: found {found}");
    println!(" (with an alpha of 0.01 {})", if soak() { at(0.01) } else { found });
    found
}

#[test]
fn half_a_percent_is_found_within_a_process_and_one_percent_between() {
    assert!(simulate_detection_rate(Calm, 20, 0.5 * PERCENT, tries(100, 10_000)) >= 0.95);
    assert!(simulate_detection_rate(Between, 90, PERCENT, tries(100, 10_000)) >= 0.95);
    if soak() {
        for noise in NOISES {
            for (count, effect) in [(20, 0.5), (30, 0.5), (90, 0.5), (20, 2.0), (30, 2.0)] {
                simulate_detection_rate(noise, count, effect * PERCENT, 2000);
            }
        }
    }
}

#[test]
fn what_differs_by_the_margin_is_seldom_equal() {
    // Ten times the noise between processes, so that the difference is not significant.
    let rules = Rules::default();
    let (many, truth) = (tries(1000, 20_000), rules.margin.ln_1p());
    let equal = share(many, |seed| {
        let mut host = Host::of(Between, seed);
        let pairs: Vec<f64> = host.pairs(20, 0.0).iter().map(|it| truth + 4.0 * it).collect();
        judge(&pairs, &[0.0; 20], &rules).verdict == Verdict::Equal
    });
    println!("equal though it differs by the margin: {equal} of {many}");
    assert!(equal <= 0.025 + 3.0 * (0.025 / many as f64).sqrt(), "{equal}");
}

#[test]
fn a_copy_that_is_off_spoils_its_path_only() {
    let mut host = Host::of(Calm, 1);
    let pairs = host.pairs(20, 0.0);
    let mut null = |effect| host.pairs(20, effect);
    let nulls = [null(0.5 * PERCENT), null(0.0), null(-0.5 * PERCENT)];
    let paths = nulls.each_ref().map(|null| PathPairs { pairs: &pairs, null });
    let verdicts = judge_family(&paths, &Rules::default());
    let shifted = Verdict::Undecidable(Cause::NullShifted);
    assert_eq!([0, 1, 2].map(|at: usize| verdicts[at].verdict), [shifted, Verdict::Equal, shifted]);
}

#[test]
fn boots_that_do_not_differ_are_not_found_and_those_that_do_are() {
    // A few of the family's paths, since counting choices of boots takes its time.
    let rules = Rules { family: PATHS, ..Rules::default() };
    let (mut still, mut moved) = (Tally::default(), Tally::default());
    for seed in 0..tries(1, 1000) {
        let mut host = Host::of(Calm, seed as u64);
        let mut levels = |effect| host.boots(15, 5.0 + effect);
        let of = |effect| [levels(0.0), levels(effect), levels(0.0)];
        let paths: Vec<[Vec<f64>; 3]> =
            [0.5 * PERCENT].into_iter().chain([0.0; 9]).map(of).collect();
        let paths: Vec<_> = paths
            .iter()
            .map(|[base, new, copy]| PathLevels { base, new, null: [base, copy] })
            .collect();
        let judged = judge_unpaired_family(&paths, &rules);
        moved.add(&judged[0]);
        for judgement in &judged[1..] {
            still.add(judgement);
        }
    }
    println!("boots: nothing differs {still:?}; +0.5 % {moved:?}");
    assert_eq!((still.found, still.equal), (0, still.paths()));
    assert_eq!(moved.found, moved.paths());
}
