import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { installedTemporal } from '../../../src/dev/temporal/binary.ts'
import { runCommand } from '../../support/command.ts'
import { intentRunsIn } from '../../support/control/intent-runs.ts'
import { startTestService } from '../../support/harness.ts'
import { temporaryFolder } from '../../support/processes/folders.ts'
import { addressOfRun } from '../../support/temporal/access.ts'

const service = await startTestService({ temporal: true })
const { becomes, get, aWaitingIntent } = await intentRunsIn(service)
const cli = String(await installedTemporal({ env: process.env, tell: () => undefined }))

/** The environment of a user on the machine of a sandbox, with the test run's Temporal server. */
function besideTheSandbox(): Record<string, string> {
  const DATA_DIR = temporaryFolder()
  const instance = {
    url: service.url,
    temporalAddress: addressOfRun(),
    temporalNamespace: 'default',
    temporalCli: cli,
  }
  writeFileSync(join(DATA_DIR, 'instance.json'), JSON.stringify(instance))
  return { DATA_DIR }
}

const signalled = (words: readonly string[], env: Record<string, string>) =>
  runCommand(['signal', ...words], { env })

describe('agentpay signal', () => {
  test('approves as an operator, at the server that npm start has chosen, and shows the line that does the same', async () => {
    const { intent } = await aWaitingIntent()
    const { code, err } = await signalled(
      [`intent/${intent.id}`, 'approve', '--by', 'Ada', '--reason', "It's fine"],
      besideTheSandbox(),
    )
    expect([code, err]).toEqual([
      0,
      `${cli} workflow signal --workflow-id intent/${intent.id} --name approve --input '{"by":"Ada","reason":"It'\\''s fine"}' --address ${addressOfRun()} --namespace default\napprove was sent to intent/${intent.id}.\n`,
    ])
    await becomes(intent.id, 'approved')
    expect(await get(intent.id)).toMatchObject({
      comment: "It's fine",
      decidedBy: { type: 'operator', name: 'Ada' },
    })
  })

  test('reaches the server of TEMPORAL_ADDRESS, with the payload that is given', async () => {
    const { intent, run } = await aWaitingIntent()
    const env = { TEMPORAL_ADDRESS: addressOfRun(), PATH: `${cli.slice(0, cli.lastIndexOf('/'))}:/usr/bin` }
    const { code } = await signalled([`intent/${intent.id}`, 'deny', '--input', '{"by":"Ada"}'], env)
    expect(code).toBe(0)
    expect(await run.untilEnded()).toBe('denied')
  })

  test.each([
    [['intent_1', 'approve'], 2, 'intent_1 is not the id of a run'],
    [['intent/intent_1', 'approve', '--input', 'fine'], 2, '--input is not JSON. Write it such as'],
    [['intent/intent_1', 'approve', '--input', '{}', '--by', 'Ada'], 2, '--input is the whole payload'],
    [
      ['intent/intent_1', 'approve'],
      4,
      'No Temporal server is configured. Start the sandbox with `npm start`',
    ],
  ])('%j ends with %i and says what to do', async (words, exit, sentence) => {
    const { code, err } = await signalled(words, {})
    expect([code, err]).toEqual([exit, expect.stringContaining(sentence)])
  })

  test('ends with 1 where there is no such run, and where the CLI is missing', async () => {
    const none = await signalled(['intent/intent_none', 'approve'], besideTheSandbox())
    expect([none.code, none.err]).toEqual([1, expect.stringMatching(/not found/i)])
    const missing = await signalled(['intent/intent_none', 'approve'], {
      TEMPORAL_ADDRESS: addressOfRun(),
      PATH: '/nowhere',
    })
    expect([missing.code, missing.err]).toEqual([1, expect.stringContaining('Install the Temporal CLI')])
  })
})
