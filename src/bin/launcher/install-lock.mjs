import { readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

// A link comes into being in one step together with what it says: the process that installs.
const LOCK = '.installing'

/** Two launches at once must not both install over each other. */
export async function withInstallLock(work) {
  let told = false
  while (!taken()) {
    if (!told) process.stdout.write(`Process ${holder()} is installing here; waiting for it\n`)
    told = true
    await sleep(250)
  }
  try {
    await work({ passTo })
  } finally {
    rmSync(LOCK, { force: true })
  }
}

/** The lock lives as long as who holds it, and npm may outlive us. */
function passTo(pid) {
  symlinkSync(String(pid), `${LOCK}.${pid}`)
  renameSync(`${LOCK}.${pid}`, LOCK)
}

function taken() {
  try {
    symlinkSync(String(process.pid), LOCK)
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    if (!alive(holder())) rmSync(LOCK, { force: true })
    return false
  }
}

function holder() {
  try {
    return Number(readlinkSync(LOCK))
  } catch {
    return 0
  }
}

function alive(pid) {
  try {
    return pid > 0 && process.kill(pid, 0)
  } catch (error) {
    return error.code === 'EPERM'
  }
}
