import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { inDays, mandatesIn } from '../../support/control/mandates.ts'
import { startTestService } from '../../support/harness.ts'
import { temporaryFolder } from '../../support/processes/folders.ts'

const page = readFileSync('docs/how-to/mandates.md', 'utf8')
const partOf = (name: string): string =>
  new RegExp(`<!-- ${name} -->\\n\`\`\`bash\\n([\\s\\S]*?)\`\`\``).exec(page)?.[1] ?? ''
const run = promisify(execFile)

const service = await startTestService({ own: true })
const { anOwnerWithAgent } = mandatesIn(service, service.url)

test('the flow of the page about mandates works as it is pasted, with a device that signs in between', async () => {
  const { key: KEY, id: AGENT, signer } = await anOwnerWithAgent()
  const cwd = temporaryFolder()
  const PATH = `${dirname(process.execPath)}:${process.env.PATH}`
  const env = { PATH, KEY, URL: service.url, AGENT, END: inDays(30) }
  const paste = async (text: string) =>
    (await run('bash', ['-euo', 'pipefail', '-c', text], { cwd, env })).stdout
  const asking = partOf('asking')
  expect(await paste(asking)).toMatch(/at most € 70\.00 a month; only these merchants: “Bookshop”\.\n$/)
  const { options } = JSON.parse(readFileSync(join(cwd, 'challenge.json'), 'utf8'))
  writeFileSync(join(cwd, 'assertion.json'), JSON.stringify(signer.device.assert(options)))
  const api = asking.split('\n')[0]
  const answers = (await paste(`${api}\n${partOf('making')}`))
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  const [made, bought, above, other, read, suspended, waiting, resumed, again, revoked, ...rest] = answers
  expect(rest).toEqual([])
  expect(made).toMatchObject({ status: 'active', monthLeftEuros: 70, jws: expect.any(String) })
  expect(bought).toMatchObject({
    status: 'approved',
    decidedBy: { type: 'mandate', id: made.id, name: 'Books' },
    decision: { mandate: { monthLeftEuros: 45 } },
  })
  for (const waits of [above, other, waiting])
    expect(waits).toMatchObject({ status: 'created', decidedBy: null })
  expect(read).toMatchObject({ heldEuros: 25, monthLeftEuros: 45 })
  expect([suspended.status, resumed.status, revoked.status]).toEqual(['suspended', 'active', 'revoked'])
  expect(again).toMatchObject({ status: 'approved', decision: { mandate: { monthLeftEuros: 20 } } })
})
