import { readFileSync } from 'node:fs'
import { host } from '../../dev/host.mjs'
import { withInstallLock } from './install-lock.mjs'
import { npmCi } from './npm-ci.mjs'

export async function install() {
  if (installed()) return
  await withInstallLock(async lock => {
    // Another launch may have installed while this one waited for the lock.
    if (!installed()) await npmCi(lock)
  })
}

function installed() {
  const { '': project, ...wanted } = packages('package-lock.json')
  const present = packages('node_modules/.package-lock.json')
  return Object.entries(wanted).every(([path, entry]) => {
    const found = present[path]
    if (found) return found.version === entry.version && found.integrity === entry.integrity
    return (
      entry.optional &&
      !(path.slice('node_modules/'.length) in project.optionalDependencies && fitsHere(entry))
    )
  })
}

function packages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages
  } catch {
    return {}
  }
}

/** The lockfile lists builds for every platform, and npm installs the matching ones. */
function fitsHere({ os, cpu }) {
  return [os].flat().includes(host.platform) && [cpu].flat().includes(host.architecture)
}
