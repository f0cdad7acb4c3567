import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { startTestService } from '../../support/harness.ts'
import { originOf } from '../../support/identity/people.ts'
import { temporaryFolder } from '../../support/processes/folders.ts'

const page = readFileSync('docs/tutorials/approve-with-passkey.md', 'utf8')
const flow = /<!-- approval -->\n```bash\n([\s\S]*?)```/.exec(page)?.[1] ?? ''
const run = promisify(execFile)

const service = await startTestService({ own: true })

test('the flow from the enrolment to the proof works as it is pasted', async () => {
  const { key: KEY } = await service.owner()
  const PATH = `${dirname(process.execPath)}:${process.env.PATH}`
  const env = {
    PATH,
    KEY,
    URL: service.url,
    ORIGIN: originOf(service),
    EXAMPLES: resolve('examples/approvals'),
  }
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', flow], { env, cwd: temporaryFolder() })
  const [enrolled, unsigned, approved, again, ...proof] = stdout.trim().split('\n')
  const [passkey, refused, intent, used] = [enrolled, unsigned, approved, again].map(line =>
    JSON.parse(String(line)),
  )
  expect(passkey).toMatchObject({ algorithm: 'ES256', enrolledBy: 'key' })
  expect(refused.error).toMatch(/passkey/)
  expect(intent).toMatchObject({
    status: 'approved',
    decidedBy: { type: 'console', id: passkey.personId, name: 'Ada Lovelace' },
  })
  expect(used.error).toMatch(/was already used/)
  for (const said of [intent.id, "'25.00'", 'Bookshop', 'Ada Lovelace', passkey.personId])
    expect(proof.join('\n')).toContain(said)
})
