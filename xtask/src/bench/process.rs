//! Runs a command and tells what it took: wall and CPU seconds, and the most memory that it held.
//!
//! CPU time is that of all children that were waited for, theirs among them, in clock ticks of 10 ms. Memory is looked
//! up while the command runs, and is that of its first process only. Both come from `/proc`, so from Linux only;
//! elsewhere they are 0 and the table says so.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cost {
    pub(super) wall: f64,
    pub(super) cpu: f64,
    /// MiB.
    pub(super) memory: f64,
}

const TICKS_PER_SECOND: f64 = 100.0;

pub(super) fn run(command: &mut Command) -> anyhow::Result<Cost> {
    let before = children_ticks();
    let started = Instant::now();
    let mut child = command
        .stdout(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot run {command:?}"))?;
    let mut memory = 0;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        // The mark only rises.
        memory = memory.max(high_water_kib(child.id()));
        std::thread::sleep(Duration::from_millis(5));
    };
    ensure!(status.success(), "{command:?}: {status}");
    Ok(Cost {
        wall: started.elapsed().as_secs_f64(),
        cpu: (children_ticks() - before) / TICKS_PER_SECOND,
        memory: memory as f64 / 1024.0,
    })
}

/// `cutime` and `cstime` of proc_pid_stat(5).
fn children_ticks() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The second field, a name in brackets, may hold anything.
    let rest = stat.rsplit(')').next().unwrap_or_default();
    let fields = rest.split_whitespace().skip(13).take(2);
    fields.filter_map(|field| field.parse::<f64>().ok()).sum()
}

fn high_water_kib(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}

pub(super) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Whether a program is there to be run.
pub(super) fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
