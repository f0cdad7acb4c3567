import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { workflowBundle } from '../../../src/app/workflow-bundle.ts'

const bundle = await workflowBundle()
const code = 'code' in bundle ? bundle.code : readFileSync(bundle.codePath, 'utf8')

const modules = [...code.matchAll(/^ +!\*\*\* (\.\S+) \*\*\*!/gm)].map(([, name]) => String(name))

describe('the workflow bundle', () => {
  test('is smaller than 2 MB', () => {
    expect(modules.length).toBeGreaterThan(20)
    expect(Buffer.byteLength(code)).toBeLessThan(2_000_000)
  })

  test('contains the workflows and process descriptions, and no other file of ours', () => {
    const ours = modules.filter(name => /^\.\/(src|workflows|activities|test)\//.test(name))
    const wrong = ours.filter(
      name =>
        !/^\.\/(workflows\/(shared\/)?[\w-]+\.(ts|cjs)|src\/kernel\/contract\/process\.ts|src\/\w+\/[\w-]+\/(process|story)\.ts)$/.test(
          name,
        ),
    )
    expect(ours).toContain('./workflows/intent.ts')
    expect(wrong).toEqual([])
  })

  test('contains only the packages that the SDK brings into its sandbox', () => {
    const packages = modules.flatMap(name => /node_modules\/((?:@[\w-]+\/)?[\w-]+)/.exec(name)?.[1] ?? [])
    expect([...new Set(packages)].toSorted()).toEqual([
      '@temporalio/common',
      '@temporalio/workflow',
      'long',
      'nexus-rpc',
    ])
  })

  test('contains no entity, no schema, no database and no I/O', () => {
    const foreign = /zod|mikro-orm|kysely|pg-|express|node:|\bfs\b|\bnet\b|child_process|\bentity/
    expect(modules.filter(name => foreign.test(name))).toEqual([])
  })
})
