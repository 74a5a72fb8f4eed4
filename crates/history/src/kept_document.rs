//! The documents that a history keeps: counts of a kernel, and times of a machine. What its tables
//! have of each is taken from it here.

use pathmeter_model::{
    Boots, Configuration, KeptKind, Measurement, ParseError, PathResult, Point, Status,
    TimesConfiguration, parse_boots, parse_measurement, parse_times, schema_of,
};
use pathmeter_seal::unsealed;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Bytes of a digest of a path's cost.
const DIGEST_BYTES: usize = 8;
/// How the schemas of times begin.
const TIMES: &str = "pathmeter.times/";
const BOOTS: &str = "pathmeter.boots/";
/// The name of the machine that pathmeter runs on.
const HOST: &str = "host";

/// A document, read and checked.
pub enum KeptDocument {
    /// A result that consists of counts.
    Result(Box<Measurement>),
    /// Times: of one session, or of one of each of several boots.
    Times(Boots),
}

/// A configuration fingerprint without the kernel's own fields: what is left is mostly the same in
/// all results.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Fingerprint {
    Counts(Box<Configuration>),
    Times(Box<TimesConfiguration>),
}

/// What the row of a result has from its document.
pub(crate) struct About {
    pub(crate) kind: KeptKind,
    pub(crate) subject: String,
    pub(crate) machine: Option<String>,
    pub(crate) release: Option<String>,
    pub(crate) image_sha256: String,
    pub(crate) fingerprint: Fingerprint,
}

/// The rows of a path in the tables.
pub(crate) struct NewRow<'a> {
    pub(crate) path: &'a str,
    /// Of the same cost are the same, by every rule.
    pub(crate) cost: Vec<u8>,
    pub(crate) point: Point,
}

impl KeptDocument {
    /// Reads a document by its schema.
    ///
    /// # Errors
    /// It is none that a history keeps, or not as it was written; one of an unknown schema is named
    /// as no result.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let content = unsealed(bytes)?;
        let bytes = &*content;
        let schema = schema_of(bytes).unwrap_or_default();
        if schema.starts_with(BOOTS) {
            return parse_boots(bytes).map(Self::Times);
        }
        if schema.starts_with(TIMES) {
            let boots = vec![parse_times(bytes)?];
            return Ok(Self::Times(Boots { boots, ..Boots::default() }));
        }
        parse_measurement(bytes).map(|result| Self::Result(Box::new(result)))
    }

    /// Reads a document that a history has kept whole, so that the seal of counts, whose checking
    /// takes as long as all the rest, needs no second look.
    pub(crate) fn parse_kept(bytes: &[u8]) -> Result<Self, ParseError> {
        parse_measurement(bytes)
            .map_or_else(|_| Self::parse(bytes), |result| Ok(Self::Result(Box::new(result))))
    }

    /// When the last session of times began, in seconds since 1970; None of counts, which are the
    /// same at any time.
    pub fn began(&self) -> Option<u64> {
        match self {
            Self::Result(_) => None,
            Self::Times(boots) => boots.boots.iter().map(|times| times.method.began).max(),
        }
    }

    /// None of no sessions, which no document has that was read.
    pub(crate) fn describe(&self) -> Option<About> {
        Some(match self {
            Self::Result(result) => {
                let whole = result.configuration.clone();
                let alike = Configuration { image_sha256: String::new(), release: None, ..whole };
                About {
                    kind: result.subject.kind.into(),
                    subject: result.subject.name.clone(),
                    machine: None,
                    release: result.configuration.release.clone(),
                    image_sha256: result.configuration.image_sha256.clone(),
                    fingerprint: Fingerprint::Counts(Box::new(alike)),
                }
            }
            Self::Times(boots) => {
                let configuration = TimesConfiguration::of(&boots.boots)?;
                About {
                    kind: KeptKind::Host,
                    subject: HOST.to_owned(),
                    machine: Some(configuration.machine()),
                    release: boots.boots.first().map(|times| times.host.release.clone()),
                    image_sha256: String::new(),
                    fingerprint: Fingerprint::Times(Box::new(configuration)),
                }
            }
        })
    }

    /// A row for each path, of a document with this hash.
    pub(crate) fn rows(&self, hash: &[u8]) -> Vec<NewRow<'_>> {
        let of_times = |boots: &Boots, path| {
            // A time depends on all of its session, so that two are never known to be the same.
            let cost = digest(Sha256::new().chain_update(hash).chain_update(path));
            boots.point(path).map(|point| (cost, point))
        };
        match self {
            Self::Result(result) => result.paths.iter().map(row).collect(),
            Self::Times(boots) => {
                let named = boots.path_names().into_iter();
                let rows = named.filter_map(|path| Some((path, of_times(boots, path)?)));
                rows.map(|(path, (cost, point))| NewRow { path, cost, point }).collect()
            }
        }
    }
}

fn row(result: &PathResult) -> NewRow<'_> {
    let estimate = result.estimate.as_ref();
    let point = Point {
        status: result.status,
        unit: result.unit,
        value: result.value(),
        low: estimate.and_then(|it| it.typical.first()).copied(),
        high: estimate.and_then(|it| it.typical.last()).copied(),
    };
    NewRow { path: &result.path, cost: cost_digest(result), point }
}

/// Two entries of the same digest can't be told apart by a comparison's verdict: they agree in all
/// but where functions stand, and what the probe noticed.
fn cost_digest(result: &PathResult) -> Vec<u8> {
    let mut result = result.clone();
    result.checks.clear();
    if let Some(events) = &mut result.events {
        events.placement.clear();
    }
    // What was parsed can be written.
    let bytes = serde_json::to_vec(&result).unwrap_or_default();
    digest(Sha256::new().chain_update(bytes))
}

fn digest(of: Sha256) -> Vec<u8> {
    of.finalize()[..DIGEST_BYTES].to_vec()
}

/// How many of these rows have a status.
pub(crate) fn count(rows: &[NewRow<'_>], status: Status) -> u64 {
    rows.iter().filter(|row| row.point.status == status).count() as u64
}
