import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** What the image holds, and the sources of the workflows. */
const COPIED = ['package.json', 'src', 'activities', 'workflows', 'temporal-config', 'docs']

/** Where a workflow begins: `patched` is asked here, as a replay may see the result of a reading too early. */
const BEGIN = /^export async function \w+\(ref: ProcessInput\): Promise<string> \{$/m

/** The story of each record waits here for what comes next. */
const LOOP = /^ {2}while \(!(\w+)\.isOver\) \{$/m

const PINNED = 'webhook.ts'

/**
 * A build that changes at will what ends within hours, and of all other workflows only texts: their open runs can go on with it,
 * and back.
 */
export function nextBuild(checkout: string): string {
  mkdirSync(checkout)
  for (const name of COPIED) cpSync(name, join(checkout, name), { recursive: true })
  symlinkSync(resolve('node_modules'), join(checkout, 'node_modules'))
  const workflows = join(checkout, 'workflows')
  edit(join(workflows, PINNED), LOOP, '  await $1.read()\n$&')
  edit(join(workflows, 'shared/record-run.ts'), /(workflowSummaryLine\(`)for /, '$1still for ')
  return checkout
}

/** A build that also changes the order of steps in all other workflows, guarded by `patched`. */
export function lastBuild(checkout: string): string {
  const workflows = join(nextBuild(checkout), 'workflows')
  const files = readdirSync(workflows).filter(name => name.endsWith('.ts') && name !== PINNED)
  for (const file of files.map(name => join(workflows, name))) {
    if (!LOOP.test(readFileSync(file, 'utf8'))) continue
    edit(file, LOOP, '  if (readsOnceMore) await $1.read()\n$&')
    edit(file, BEGIN, `$&\n  const readsOnceMore = patched('it reads once more')`)
    edit(file, /^/, `import { patched } from '@temporalio/workflow'\n`)
  }
  return checkout
}

function edit(file: string, place: RegExp, text: string): void {
  const before = readFileSync(file, 'utf8')
  if (!place.test(before)) throw new Error(`${file} has no ${place}`)
  writeFileSync(file, before.replace(place, text))
}
