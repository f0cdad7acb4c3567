import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

export interface DebianProgram {
  readonly path: string
  /** Where the libraries of an unpacked program are. */
  readonly env: Readonly<Record<string, string>>
}

/** A program of this machine, or Debian's, unpacked into a folder with the libraries that its packages have. */
export function findProgram(path: string, packages: readonly string[], folder: string): DebianProgram {
  try {
    const name = path.split('/').at(-1) ?? ''
    return { path: execFileSync('which', [name], { encoding: 'utf8' }).trim(), env: {} }
  } catch {
    execFileSync('apt-get', ['--quiet', 'download', ...packages], { cwd: folder, stdio: 'ignore' })
    const archives = readdirSync(folder).filter(name => name.endsWith('.deb'))
    for (const archive of archives) execFileSync('dpkg-deb', ['--extract', join(folder, archive), folder])
    const libraries = readdirSync(join(folder, 'usr'), { recursive: true, encoding: 'utf8' })
      .filter(file => /\.so[.\d]*$/.test(file))
      .map(file => join(folder, 'usr', file, '..'))
    return { path: join(folder, path), env: { LD_LIBRARY_PATH: [...new Set(libraries)].join(':') } }
  }
}
