import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { temporaryFolder } from '../support/processes/folders.ts'
import { recordWorkflows } from '../support/temporal/workflow-names.ts'
import { lastBuild } from './builds/checkouts.ts'

/** It goes through its pages to the end, and waits for nothing. */
const WITHOUT_WAITS = 'statements'

test('the rehearsal of builds changes the workflow of every record: the pinned one at will, all others guarded', () => {
  const checkout = lastBuild(join(temporaryFolder(), 'last'))
  const workflows = join(checkout, 'workflows')
  const texts = readdirSync(workflows)
    .filter(name => name.endsWith('.ts'))
    .map(name => [name.slice(0, -3), readFileSync(join(workflows, name), 'utf8')] as const)
  const guarded = texts
    .filter(([, text]) => text.includes(' = patched(') && text.includes('  if (readsOnceMore) await '))
    .map(([name]) => name)
  const others = recordWorkflows.filter(name => !['webhook', WITHOUT_WAITS].includes(name))
  expect(guarded.toSorted()).toEqual(others.toSorted())
  expect(new Map(texts).get('webhook')).toContain('  await record.read()\n  while')
})
