//! The connections that wait for another request: each on the shelf of its scope, for a short
//! while, and not too many.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::time::Instant;

use crate::Guard;
use crate::line::Line;

#[cfg(test)]
mod tests;

/// So long a connection waits unused.
const IDLE: Duration = Duration::from_secs(30);
/// So old a connection may be when it is used again: after that, its name is looked up anew.
const OLDEST: Duration = Duration::from_secs(60);
const PER_SCOPE: usize = 64;
const IN_ALL: usize = 1_024;
const SWEEP_EVERY: Duration = Duration::from_secs(5);

#[derive(Default)]
pub(crate) struct Pool {
    shelves: Mutex<Shelves>,
}

#[derive(Default)]
struct Shelves {
    by_scope: HashMap<String, Shelf>,
    kept: usize,
    is_swept: bool,
}

#[derive(Default)]
struct Shelf {
    /// The one used last comes last.
    lines: VecDeque<Kept>,
    opening: Arc<Opening>,
}

struct Kept {
    origin: Arc<str>,
    line: Line,
    used: Instant,
}

/// Where a connection belongs.
pub(crate) struct Place {
    pub(crate) scope: String,
    pub(crate) origin: Arc<str>,
}

/// For whoever opens a connection that others of the scope may come to share.
#[derive(Default)]
pub(crate) struct Opening {
    pub(crate) turn: tokio::sync::Mutex<()>,
    /// Whether the receiver took one request at a time when it was last asked.
    pub(crate) takes_one: AtomicBool,
}

impl Pool {
    /// A connection to ask on. One that is shared stays for others as well.
    pub(crate) fn take(&self, place: &Place, guard: &Guard) -> Option<Line> {
        self.find(place, guard, |_| true)
    }

    pub(crate) fn take_shared(&self, place: &Place, guard: &Guard) -> Option<Line> {
        self.find(place, guard, |line| line.share().is_some())
    }

    fn find(&self, place: &Place, guard: &Guard, fits: fn(&Line) -> bool) -> Option<Line> {
        let now = Instant::now();
        let mut shelves = self.shelves();
        let shelves = &mut *shelves;
        let lines = &mut shelves.by_scope.get_mut(&place.scope)?.lines;
        loop {
            let wanted = |it: &Kept| it.origin == place.origin && fits(&it.line);
            let mut kept = lines.remove(lines.iter().rposition(wanted)?)?;
            let is_admitted = guard.admit(&[kept.line.peer]).is_ok();
            if !is_admitted || kept.is_over(now) || !kept.line.is_open() {
                shelves.kept -= 1;
                continue;
            }
            let Some(line) = kept.line.share() else {
                shelves.kept -= 1;
                return Some(kept.line);
            };
            kept.used = now;
            lines.push_back(kept);
            return Some(line);
        }
    }

    pub(crate) fn keep(self: &Arc<Self>, place: &Place, line: Line) {
        let used = Instant::now();
        let kept = Kept { origin: place.origin.clone(), line, used };
        if kept.is_over(used) {
            return;
        }
        let mut shelves = self.shelves();
        let lines = &mut shelves.shelf(&place.scope).lines;
        lines.push_back(kept);
        match lines.len() > PER_SCOPE {
            true => drop(lines.pop_front()),
            false => shelves.kept += 1,
        }
        if shelves.kept > IN_ALL {
            shelves.drop_idlest();
        }
        self.sweep_later(&mut shelves);
    }

    pub(crate) fn opening(self: &Arc<Self>, scope: &str) -> Arc<Opening> {
        let mut shelves = self.shelves();
        self.sweep_later(&mut shelves);
        shelves.shelf(scope).opening.clone()
    }

    fn shelves(&self) -> MutexGuard<'_, Shelves> {
        self.shelves.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What nobody comes back for must be closed all the same.
    fn sweep_later(self: &Arc<Self>, shelves: &mut Shelves) {
        if !std::mem::replace(&mut shelves.is_swept, true) {
            tokio::spawn(sweep(Arc::downgrade(self)));
        }
    }
}

async fn sweep(pool: Weak<Pool>) {
    loop {
        tokio::time::sleep(SWEEP_EVERY).await;
        let Some(pool) = pool.upgrade() else { return };
        let mut shelves = pool.shelves();
        shelves.sweep(Instant::now());
        if shelves.by_scope.is_empty() {
            shelves.is_swept = false;
            return;
        }
    }
}

impl Shelves {
    fn shelf(&mut self, scope: &str) -> &mut Shelf {
        self.by_scope.entry(scope.to_owned()).or_default()
    }

    fn sweep(&mut self, now: Instant) {
        self.by_scope.retain(|_, shelf| {
            shelf.lines.retain_mut(|it| !it.is_over(now) && it.line.is_open());
            !shelf.lines.is_empty() || Arc::strong_count(&shelf.opening) > 1
        });
        self.kept = self.by_scope.values().map(|it| it.lines.len()).sum();
    }

    fn drop_idlest(&mut self) {
        let first = |it: &Shelf| it.lines.front().map(|it| it.used);
        let idlest = self.by_scope.values_mut().filter(|it| !it.lines.is_empty());
        if let Some(shelf) = idlest.min_by_key(|it| first(it)) {
            shelf.lines.pop_front();
            self.kept -= 1;
        }
    }
}

impl Kept {
    fn is_over(&self, now: Instant) -> bool {
        now >= self.used + IDLE || now >= self.line.opened + OLDEST
    }
}
