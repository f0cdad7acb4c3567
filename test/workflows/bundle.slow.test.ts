import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { temporaryFolder } from '../support/processes/folders.ts'
import { launch } from '../support/processes/launched.ts'

/** A checkout whose sources this test edits, with a cache of its own. */
const checkout = temporaryFolder()

beforeAll(() => {
  for (const name of ['src', 'workflows', 'temporal-config', 'package.json', 'tsconfig.json'])
    cpSync(name, join(checkout, name), { recursive: true, preserveTimestamps: true })
  mkdirSync(join(checkout, 'node_modules'))
  for (const name of readdirSync('node_modules').filter(name => !name.startsWith('.')))
    symlinkSync(resolve('node_modules', name), join(checkout, 'node_modules', name))
})

/** The file that a worker of the checkout would run. */
async function bundle(): Promise<string> {
  const module = join(checkout, 'src/app/workflow-bundle.ts')
  const print = `const { workflowBundle } = await import(${JSON.stringify(module)}); console.log((await workflowBundle()).codePath)`
  const child = launch(process.execPath, ['--input-type=module', '--eval', print])
  expect([await child.exit, child.output()]).toEqual([0, expect.stringMatching(/^\S+workflows-\w+\.js\n$/)])
  return child.output().trim()
}

function edit(name: string, from: string | RegExp, to: string): void {
  const file = join(checkout, name)
  const text = readFileSync(file, 'utf8')
  expect(text).toMatch(from)
  writeFileSync(file, text.replace(from, to))
}

describe('the bundle of the workflows', () => {
  let first: string
  beforeAll(async () => {
    first = await bundle()
  })

  test('is built once for the same sources', async () => {
    const { mtimeMs } = statSync(first)
    expect(await bundle()).toBe(first)
    expect(statSync(first).mtimeMs).toBe(mtimeMs)
    edit('src/commerce/mpp/mpp.ts', /$/, '\n// Workflows do not contain this file.\n')
    expect(await bundle()).toBe(first)
  })

  test('is built again when any file in it changes, whatever its name and folder', async () => {
    edit('src/commerce/mpp/story.ts', /$/, `\nexport const marker = 'as it is now'\n`)
    const second = await bundle()
    expect(second).not.toBe(first)
    expect(readFileSync(second, 'utf8')).toContain('as it is now')
  })

  test('is built again when a file in it comes to contain another one, and then that one changes', async () => {
    writeFileSync(join(checkout, 'workflows/added.ts'), `export const added = 'at first'\n`)
    edit('workflows/index.ts', /$/, `\nexport { added } from './added.ts'\n`)
    expect(readFileSync(await bundle(), 'utf8')).toContain('at first')
    edit('workflows/added.ts', 'at first', 'later on')
    expect(readFileSync(await bundle(), 'utf8')).toContain('later on')
  })
})
