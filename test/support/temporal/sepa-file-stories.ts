import { aSepaTransfer, aWallet, bodyOf, creditWallet, type TestClient } from '../factories.ts'
import type { TestService } from '../harness.ts'
import { pain002 } from '../money/pain002.ts'
import { until } from '../until.ts'

export interface BankStage {
  readonly dash: TestClient
  readonly sql: TestService['sql']
  /** An owner whose live payments leave by files. */
  payer(): Promise<{ readonly client: TestClient; readonly ownerId: string }>
  signal(workflowId: string, name: string, payload: unknown): Promise<void>
  shows(workflowId: string, text: string): Promise<void>
  ends(workflowId: string): Promise<void>
}

/** The file that a payment waits in. */
async function aFile({ payer, sql }: BankStage, scheme: 'sct' | 'sct_inst' = 'sct') {
  const { client, ownerId } = await payer()
  const { id: walletId } = await aWallet(client)
  await creditWallet({ sql }, { ownerId, mode: 'live', walletId })
  const { id, endToEndId } = await aSepaTransfer(client, { fromWalletId: walletId, scheme })
  const fileId = await until('the payment is in a file', async () => {
    const [found] = await sql<{ fileId: string }>(
      'select file_id as "fileId" from sepa_instructions where id = $1',
      [id],
    )
    return found?.fileId
  })
  return { fileId, endToEndId: String(endToEndId), workflowId: `sepa-file/${fileId}` }
}

/** An instant of the file has come. */
async function passes({ sql, signal }: BankStage, fileId: string, column: 'closes_at' | 'report_due_at') {
  await sql(
    `update sepa_files set due_at = clock_timestamp(), ${column} = clock_timestamp() where id = $1 and due_at > now()`,
    [fileId],
  )
  await signal(`sepa-file/${fileId}`, 'recordChanged', null)
}

const report = ({ dash }: BankStage, answer: Parameters<typeof pain002>[0]) =>
  bodyOf(
    dash.rails.read({ body: { content: Buffer.from(pain002(answer)).toString('base64'), mode: 'live' } }),
  )

/** Files for the bank, from their first payment to the bank's report. */
export const sepaFileStories: Readonly<Record<string, (stage: BankStage) => Promise<string>>> = {
  'sepa-file-waits': async stage => {
    const { workflowId } = await aFile(stage)
    await stage.shows(workflowId, 'until its cut-off')
    return workflowId
  },

  'sepa-file-reported': async stage => {
    const { fileId, workflowId } = await aFile(stage)
    await stage.shows(workflowId, 'until its cut-off')
    await passes(stage, fileId, 'closes_at')
    await stage.shows(workflowId, 'which is late after')
    await report(stage, { to: fileId.replace('sepafile_', ''), group: '<GrpSts>ACTC</GrpSts>' })
    await stage.ends(workflowId)
    return workflowId
  },

  'sepa-file-reported-late-with-a-rejection': async stage => {
    const { fileId, endToEndId, workflowId } = await aFile(stage)
    await stage.shows(workflowId, 'until its cut-off')
    await passes(stage, fileId, 'closes_at')
    await stage.shows(workflowId, 'which is late after')
    await passes(stage, fileId, 'report_due_at')
    await stage.shows(workflowId, 'its report is late')
    await report(stage, { to: fileId.replace('sepafile_', ''), payments: [[endToEndId, 'RJCT', 'AC04']] })
    await stage.ends(workflowId)
    return workflowId
  },

  'sepa-file-instant': async stage => {
    const { workflowId } = await aFile(stage, 'sct_inst')
    await stage.ends(workflowId)
    return workflowId
  },
}
