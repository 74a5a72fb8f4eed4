//! What an engine needs to run a plan: a few lines that a person reads, and changes.
//!
//! Contract: the engine gets shards, of which each takes minutes, and learns by the exit code
//! whether to try again. Whether a cell is done it never needs to know: the folder tells.

use std::num::NonZeroU32;

/// What runs the shards of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// A job array of Slurm.
    Slurm,
    /// An indexed Job of Kubernetes.
    Kubernetes,
    Gitlab,
    Github,
    /// A script for the program GNU parallel.
    Parallel,
    Make,
    Snakemake,
}

/// A plan to be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job<'a> {
    /// The path of the plan's file.
    pub plan: &'a str,
    /// The path of the folder of results.
    pub results: &'a str,
    /// How many cells it has.
    pub cells: usize,
    /// Seconds that one takes, about, on one CPU.
    pub seconds: u32,
    /// How many shards there are, if the plan says.
    pub shards: Option<NonZeroU32>,
}

/// Seconds that a shard should take, about: an engine spends a few on each, and what is lost with a
/// task is at most this.
const SHARD_SECONDS: u64 = 300;
/// The most tasks at a time.
const AT_ONCE: u32 = 32;

impl Engine {
    /// All, each with the word that names it.
    pub const ALL: [(&'static str, Self); 7] = [
        ("slurm", Self::Slurm),
        ("kubernetes", Self::Kubernetes),
        ("gitlab", Self::Gitlab),
        ("github", Self::Github),
        ("parallel", Self::Parallel),
        ("make", Self::Make),
        ("snakemake", Self::Snakemake),
    ];

    /// Most tasks that it takes in one job: Slurm's `MaxArraySize` is 1001 unless changed, a matrix
    /// of GitHub has 256 jobs, `parallel` of GitLab 200; Snakemake's own start is slow beyond
    /// 10,000 files.
    pub fn most(self) -> u32 {
        match self {
            Self::Slurm => 1000,
            Self::Gitlab => 200,
            Self::Github => 256,
            Self::Kubernetes | Self::Parallel | Self::Make | Self::Snakemake => 10_000,
        }
    }

    /// Fewest: GitLab numbers the jobs of two and more.
    fn least(self) -> u32 {
        if self == Self::Gitlab { 2 } else { 1 }
    }

    fn template(self) -> &'static str {
        match self {
            Self::Slurm => include_str!("emit/slurm.sh"),
            Self::Kubernetes => include_str!("emit/kubernetes.yaml"),
            Self::Gitlab => include_str!("emit/gitlab.yml"),
            Self::Github => include_str!("emit/github.yml"),
            Self::Parallel => include_str!("emit/parallel.sh"),
            Self::Make => include_str!("emit/make.mk"),
            Self::Snakemake => include_str!("emit/snakemake.smk"),
        }
    }
}

impl Job<'_> {
    /// How many shards `engine` should get.
    pub fn shards(&self, engine: Engine) -> u32 {
        if let Some(shards) = self.shards {
            return shards.get();
        }
        let seconds = (self.cells as u64).saturating_mul(u64::from(self.seconds));
        let shards = u32::try_from(seconds.div_ceil(SHARD_SECONDS)).unwrap_or(u32::MAX);
        shards.clamp(engine.least(), engine.most())
    }
}

/// Why there is no file for an engine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmitError {
    /// The plan has more shards than the engine takes.
    #[error("the plan has {0} shards, and this engine takes {1} at most")]
    Shards(u32, u32),
    /// A name would mean something to the engine's file, or to the shell in it.
    #[error("{0:?} can't stand in an engine's file")]
    Name(String),
}

/// Whether a path can stand anywhere in these files as it is: they are shell, YAML, make and Python
/// within each other, and no way to quote serves all of them.
fn is_plain(path: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._+-@,=".contains(c);
    !path.is_empty() && path.chars().all(plain) && !path.starts_with(['-', '@'])
}

/// What `engine` needs to run the job.
///
/// # Errors
/// [`EmitError`].
pub fn emit(engine: Engine, job: &Job<'_>) -> Result<String, EmitError> {
    if let Some(name) = [job.plan, job.results].into_iter().find(|name| !is_plain(name)) {
        return Err(EmitError::Name(name.to_owned()));
    }
    let shards = job.shards(engine);
    if shards > engine.most() {
        return Err(EmitError::Shards(shards, engine.most()));
    }
    let minutes = (job.cells as u64 * u64::from(job.seconds)).div_ceil(60 * u64::from(shards));
    // A limit is for a task that hangs: several times what one should take.
    let limit = (minutes * 4).max(15);
    let numbers: Vec<String> = (1..=shards).map(|number| number.to_string()).collect();
    let about = format!(
        "{} cells in {shards} shards of about {minutes} min, if a cell takes {} s",
        job.cells, job.seconds
    );
    let at_once = shards.min(AT_ONCE).to_string();
    let words = [
        ("@ABOUT@", about),
        ("@PLAN@", job.plan.to_owned()),
        ("@RESULTS@", job.results.to_owned()),
        ("@SHARDS@", shards.to_string()),
        ("@LIST@", numbers.join(", ")),
        ("@MINUTES@", limit.to_string()),
        ("@AT_ONCE@", at_once),
    ];
    let text = engine.template().to_owned();
    Ok(words.iter().fold(text, |text, (place, word)| text.replace(place, word)))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn job(cells: usize) -> Job<'static> {
        Job { plan: "plan.json", results: "results", cells, seconds: 10, shards: None }
    }

    #[test]
    fn each_engines_file_is_as_it_was_looked_at() {
        for (word, engine) in Engine::ALL {
            insta::assert_snapshot!(word, emit(engine, &job(400)).unwrap());
        }
    }

    #[test]
    fn no_place_is_left_open_and_each_file_is_short() {
        for (word, engine) in Engine::ALL {
            let text = emit(engine, &job(100_000)).unwrap();
            assert!(!text.replace("@v4", "").contains('@'), "{word}: {text}");
            assert!(text.lines().count() <= 45, "{word}");
        }
    }

    #[test]
    fn a_shard_takes_minutes_as_far_as_the_engine_allows() {
        assert_eq!(job(1).shards(Engine::Slurm), 1);
        assert_eq!(job(1).shards(Engine::Gitlab), 2);
        assert_eq!(job(400).shards(Engine::Slurm), 14);
        assert_eq!(job(100_000).shards(Engine::Github), 256);
        assert_eq!(job(100_000).shards(Engine::Gitlab), 200);
        let frozen = Job { shards: NonZeroU32::new(201), ..job(1) };
        assert_eq!(emit(Engine::Gitlab, &frozen), Err(EmitError::Shards(201, 200)));
        assert!(emit(Engine::Slurm, &frozen).unwrap().contains("--array=1-201"));
    }

    #[test]
    fn a_name_that_a_shell_or_yaml_would_read_is_refused() {
        for plan in ["", "a b", "$(x)", "a'b", "a: b", "-o", "a{b}", "a\nb", "pläne", "@PLAN"] {
            let told = emit(Engine::Slurm, &Job { plan, ..job(1) });
            assert_eq!(told, Err(EmitError::Name(plan.to_owned())));
        }
    }

    #[test]
    fn a_shell_reads_those_that_are_its() {
        for engine in [Engine::Slurm, Engine::Parallel] {
            let text = emit(engine, &job(400)).unwrap();
            let read = Command::new("sh").args(["-n", "-c", &text]).status().unwrap();
            assert!(read.success(), "{engine:?}");
        }
    }
}
