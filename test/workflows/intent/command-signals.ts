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
const { get, aWaitingIntent } = await intentRunsIn(service)
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
  test('approves as an operator, at the server that npm start has chosen, shows the line that does the same, and prints the answer', async () => {
    const { intent } = await aWaitingIntent()
    const { code, out, err } = await signalled(
      [`intent/${intent.id}`, 'approve', '--by', 'Ada', '--reason', "It's fine"],
      besideTheSandbox(),
    )
    const [line = '', ...rest] = err.split(/(?<= --update-id) \S+ /)
    expect([code, line, ...rest]).toEqual([
      0,
      `${cli} workflow update execute --workflow-id intent/${intent.id} --name approve --input '{"by":"Ada","reason":"It'\\''s fine"}' --update-id`,
      `--output json --command-timeout 60s --address ${addressOfRun()} --namespace default\n`,
    ])
    expect(JSON.parse(out)).toEqual({ status: 'approved', line: 'Update approve by Ada: done.' })
    expect(await get(intent.id)).toMatchObject({
      comment: "It's fine",
      decidedBy: { type: 'operator', name: 'Ada' },
    })
  })

  test('reaches the server of TEMPORAL_ADDRESS, with the payload that is given', async () => {
    const { intent, run } = await aWaitingIntent()
    const env = { TEMPORAL_ADDRESS: addressOfRun(), PATH: `${cli.slice(0, cli.lastIndexOf('/'))}:/usr/bin` }
    const { code } = await signalled(
      [`intent/${intent.id}`, 'deny', '--input', '{"by":"Ada","reason":"No"}'],
      env,
    )
    expect(code).toBe(0)
    expect(await run.untilEnded()).toBe('denied')
  })

  test('ends with 1 and the reason where the run refuses, at once or by a rule', async () => {
    const { intent, run } = await aWaitingIntent()
    const refusalOf = async (...words: string[]) => {
      const { code, out, err } = await signalled([`intent/${intent.id}`, ...words], besideTheSandbox())
      return [code, out, err.split('\n').slice(1).join('\n')]
    }
    expect(await refusalOf('approve')).toEqual([1, '', 'Send {"by": "your name", "reason": "why"}.\n'])
    await run.update('approve', { by: 'Ada' })
    expect(await refusalOf('deny', '--by', 'Bob', '--reason', 'No')).toEqual([
      1,
      '',
      'The update deny by Bob changed nothing: The intent is already approved.\n',
    ])
  })

  test.each([
    'Error: program interrupted',
    // The CLI 1.5.1 writes it as a log line.
    'time=2026-11-27T05:37:30.668 level=ERROR msg="program interrupted"',
  ])('says that no answer has come, where no worker decides in time: %s', async line => {
    const PATH = temporaryFolder()
    const late = `#!/bin/sh\necho '${line}' >&2\nexit 1\n`
    writeFileSync(join(PATH, 'temporal'), late, { mode: 0o755 })
    const env = { TEMPORAL_ADDRESS: addressOfRun(), PATH }
    const { code, err } = await signalled(['intent/intent_late', 'approve', '--by', 'Ada'], env)
    expect([code, err]).toEqual([1, expect.stringContaining('The update may still be carried out')])
  })

  test.each([
    `Error: unable to update workflow: Send {"by": "your name"}.`,
    // The CLI 1.5.1 writes it as a log line.
    `time=2026-11-27T05:37:30.668 level=ERROR msg="unable to update workflow: Send {\\"by\\": \\"your name\\"}. (type: Refused, retryable: false)"`,
  ])('passes on only the sentence of the run: %s', async line => {
    const PATH = temporaryFolder()
    writeFileSync(join(PATH, 'temporal'), `#!/bin/sh\necho '${line}' >&2\nexit 1\n`, { mode: 0o755 })
    const env = { TEMPORAL_ADDRESS: addressOfRun(), PATH }
    const { err } = await signalled(['intent/intent_1', 'approve', '--input', '{}'], env)
    expect(err.split('\n').slice(1)).toEqual(['Send {"by": "your name"}.', ''])
  })

  test('refuses a verb that the run does not take, with those that it takes, and sends nothing', async () => {
    const { intent, run } = await aWaitingIntent()
    const before = await run.historyLength()
    const words = [`intent/${intent.id}`, 'aprove', '--by', 'Ada']
    const { code, out, err } = await signalled(words, besideTheSandbox())
    const refusal = 'The run takes no aprove: it takes approve, deny and cancel.\n'
    expect([code, out, err]).toEqual([1, '', expect.stringContaining(refusal)])
    expect(await run.historyLength()).toBe(before)
  })

  test('sends what a run takes as a signal only', async () => {
    const { intent } = await aWaitingIntent()
    const words = [`intent/${intent.id}`, 'recordChanged']
    const { code, out, err } = await signalled(words, besideTheSandbox())
    const said = `recordChanged was sent to intent/${intent.id}.`
    expect([code, out, err]).toEqual([0, '', expect.stringContaining(said)])
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
