import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { startHouse } from './support/harness.ts'

const readme = readFileSync('README.md', 'utf8')
const flow = /<!-- flow -->\n```bash\n([\s\S]*?)```/.exec(readme)?.[1] ?? ''
const run = promisify(execFile)

const house = await startHouse()

test('the first flow of the README works as it is pasted', async () => {
  const { key } = await house.owner()
  const PATH = `${dirname(process.execPath)}:${process.env.PATH}`
  const env = { ...process.env, PATH, URL: house.url, KEY: key }
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', flow], { env })
  const answers = stdout
    .replaceAll('}{', '}\n{')
    .split('\n')
    .map(line => JSON.parse(line))
  expect(answers).toHaveLength(13)
  expect(answers.filter(answer => answer.error)).toEqual([])
  const [policy, , funded, token, alone, approved, toggled, frozen, unfrozen, balance, proof, ...rest] =
    answers
  const [events, audit] = rest
  expect(policy).toMatchObject({ name: 'Research', maxTransactionEuros: 50 })
  expect(token.token).toMatch(/^at_test_/)
  expect([alone.status, alone.decidedBy.type]).toEqual(['approved', 'policy'])
  expect([approved.status, approved.comment]).toEqual(['approved', 'Go ahead'])
  expect([funded.availableEuros, balance.availableEuros, balance.heldEuros]).toEqual([60, 25.5, 34.5])
  expect(proof).toMatchObject({ ok: true, problems: [] })
  expect(toggled.requireIntent).toBe(true)
  expect([frozen.status, unfrozen.status]).toEqual(['frozen', 'active'])
  expect(events.data.map((event: { event: string }) => event.event)).toContain('agent.unfrozen')
  expect(audit.data.length).toBeGreaterThan(0)
})
