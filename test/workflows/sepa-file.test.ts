import { expect, test } from '@jest/globals'
import { aSepaTransfer, aWallet, bodyOf, creditWallet } from '../support/factories.ts'
import { bankFiles } from '../support/money/bank-files.ts'
import { pain002 } from '../support/money/pain002.ts'
import { textOf } from '../support/temporal/history-text.ts'
import { type RunView, runViewer } from '../support/temporal/runs.ts'
import { until } from '../support/until.ts'

const { service, owners, live, get, filesOf, receiveFile, proveLedgers, cutOff, sweep } = await bankFiles({
  temporal: true,
})
const { of } = await runViewer()

/** A payment, and the run of the file that it waits in. */
async function aPayment(scheme: 'sct' | 'sct_inst') {
  const { id: walletId } = await aWallet(live)
  await creditWallet(service, { ownerId: owners[0].ownerId, mode: 'live', walletId })
  const transfer = await aSepaTransfer(live, { fromWalletId: walletId, scheme, reference: 'Invoice 4711' })
  const fileId = await until('it is in a file', async () => {
    const [found] = await service.sql<{ fileId: string }>(
      'select file_id as "fileId" from sepa_instructions where id = $1',
      [transfer.id],
    )
    return found?.fileId
  })
  const { id, endToEndId } = transfer
  return { id, endToEndId: String(endToEndId), fileId, run: of({ workflowId: `sepa-file/${fileId}` }) }
}

async function passes(run: RunView, fileId: string, column: 'closes_at' | 'report_due_at'): Promise<void> {
  await service.sql(
    `update sepa_files set due_at = clock_timestamp(), ${column} = clock_timestamp() where id = $1`,
    [fileId],
  )
  await run.signal('recordChanged')
}

const statusOf = async (id: string) => (await get(id)).status

test('the run of a file hands it over at its cut-off, says that the report is late, and takes a rejection', async () => {
  const { id, endToEndId, fileId, run } = await aPayment('sct')
  await run.untilDetails('It waits **for payments, until its cut-off')
  expect(await filesOf(endToEndId)).toEqual([])
  await passes(run, fileId, 'closes_at')
  await run.untilDetails('It waits **for the bank’s report, which is late after')
  expect(await run.details()).toContain('File of 1 payment, € 12.50, in live mode: handed over')
  expect(await run.attributes()).toMatchObject({ AgentPayDoubtfulSince: expect.any(Date) })
  expect(await filesOf(endToEndId)).toHaveLength(1)
  await passes(run, fileId, 'report_due_at')
  await run.untilDetails('handed over, its report is late')
  const payments = [[endToEndId, 'RJCT', 'AC04']] as const
  await bodyOf(receiveFile(pain002({ to: fileId.replace('sepafile_', ''), payments })))
  expect(await run.untilEnded()).toBe('handed_over')
  expect(await statusOf(id)).toBe('rejected')
  expect(await run.attributes()).not.toHaveProperty('AgentPayDoubtfulSince')
  expect(await run.details()).toContain('reported by the bank, 1 payment rejected')
  expect(await run.activityNames()).toEqual([
    ...['makeSepaFile', 'stageSepaFile', 'handOverSepaFile', 'sayReportIsLate', 'takeReport'],
  ])
  await proveLedgers()
  const history = textOf(await run.handle.fetchHistory())
  for (const secret of ['Müller', 'Invoice 4711', endToEndId, 'DE89', '<?xml'])
    expect([secret, history.includes(secret)]).toEqual([secret, false])
  // Two of them set and remove since when it is doubtful money.
  expect(await run.historyLength()).toBeLessThanOrEqual(66)
})

test('a report after the end begins another run of the file', async () => {
  const { id, endToEndId, fileId, run } = await aPayment('sct_inst')
  expect(await run.untilEnded()).toBe('handed_over')
  expect(await filesOf(endToEndId)).toHaveLength(1)
  expect(await run.timerSummaries()).not.toContainEqual(expect.stringMatching(/cut-off|report/))
  const runId = async () => (await run.handle.describe()).runId
  const ended = await runId()
  const payments = [[endToEndId, 'RJCT', 'AC04']] as const
  await bodyOf(receiveFile(pain002({ to: fileId.replace('sepafile_', ''), payments })))
  await until('the payment is rejected', async () => (await statusOf(id)) === 'rejected')
  await until('another run begins', async () => (await runId()) !== ended)
  expect(await run.untilEnded()).toBe('handed_over')
})

test('the run of a file is told what the sweep did in its place', async () => {
  const { id, endToEndId, fileId, run } = await aPayment('sct')
  await run.untilDetails('until its cut-off')
  await cutOff()
  await run.untilDetails('which is late after')
  expect(await filesOf(endToEndId)).toHaveLength(1)
  const payments = [[endToEndId, 'RJCT', 'AC04']] as const
  await Promise.all([
    bodyOf(receiveFile(pain002({ to: fileId.replace('sepafile_', ''), payments }))),
    until('the payment is rejected', async () => {
      await sweep()
      return (await statusOf(id)) === 'rejected'
    }),
  ])
  expect(await run.untilEnded()).toBe('handed_over')
})

test('Request Cancellation ends no run of a file', async () => {
  const { endToEndId, fileId, run } = await aPayment('sct')
  await run.untilDetails('until its cut-off')
  await run.handle.cancel()
  await run.untilDetails('Request Cancellation changed nothing')
  await passes(run, fileId, 'closes_at')
  await run.untilDetails('which is late after')
  expect(await filesOf(endToEndId)).toHaveLength(1)
})
