import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { openHouse } from '../../src/bin/house.ts'
import { emptyInbox } from '../../src/bin/sepa-inbox.ts'
import { endOverdue } from '../../src/kernel/deadlines.ts'
import type { Execute } from '../../src/kernel/execute.ts'
import { isBankDay } from '../../src/kernel/target-days.ts'
import { allAt, readXml, textAt } from '../../src/kernel/xml.ts'
import { readSettings } from '../../src/platform/settings.ts'
import { ACCOUNT, type Booking, camt } from '../support/camt.ts'
import { aLiveClient, aPayment, aWallet, bringMoney, made } from '../support/factories.ts'
import { temporaryFolder } from '../support/folders.ts'
import { secretSettings, startHouse } from '../support/harness.ts'
import { times } from '../support/pot-house.ts'

const folder = temporaryFolder()
const [inbox, out] = [join(folder, 'in'), join(folder, 'out')]
mkdirSync(inbox)
mkdirSync(out)
const env = { SEPA_RAIL: 'files', SEPA_FOLDER: folder, COLLECTION_IBAN: ACCOUNT }
const house = await startHouse({ env })

/** What a worker is, without Temporal. */
async function openWorker(more = {}) {
  const worker = await openHouse({
    settings: {
      ...readSettings({ ...env, LOG_LEVEL: 'silent', DATABASE_POOL: '10', ...more }),
      ...secretSettings,
      databaseUrl: house.databaseUrl,
    },
    shared: true,
  })
  afterAll(() => worker.database.close())
  return worker
}
const worker = await openWorker()
const pretender = await openWorker({ SEPA_RAIL: 'sandbox' })

const sweep = (execute: Execute = worker.execute) => endOverdue({ ...worker, execute })

const owners = [await house.owner(), await house.owner()] as const
const [live, other] = [await aLiveClient(house, owners[0]), await aLiveClient(house, owners[1])]
const lives = [live, other]

type Live = typeof live

/** Made, and as due as a minute later. */
async function make(by: Live, members: Parameters<typeof aPayment>[1] = {}) {
  const wallet = await aWallet(by)
  const ownerId = owners[lives.indexOf(by)]?.ownerId ?? ''
  await bringMoney(house, { ownerId, mode: 'live', walletId: wallet.id })
  const transfer = await aPayment(by, { fromWalletId: wallet.id, reference: 'Invoice 4711', ...members })
  await makeDue()
  return transfer
}

const makeDue = () =>
  house.sql(`update transfers set due_at = now() - interval '1 second' where due_at is not null`)

async function aSubmitted(by = live, members: Parameters<typeof aPayment>[1] = {}) {
  const transfer = await make(by, members)
  await sweep()
  expect((await get(transfer.id, by)).status).toBe('submitted')
  return { ...transfer, endToEndId: String(transfer.endToEndId) }
}

const get = (id: string, by = live) => made(by.transfers.get({ params: { id } }))

/** The next cut-off is now. */
const closeFiles = () =>
  house.sql(
    `update sepa_files set closes_at = clock_timestamp(), due_at = clock_timestamp() where status = 'open'`,
  )

async function cutOff(): Promise<void> {
  await closeFiles()
  await sweep()
}

const filesOf = async (endToEndId: string) =>
  readdirSync(out).filter(name => readFileSync(join(out, name), 'utf8').includes(`>${endToEndId}<`))

const base64 = (text: string) => Buffer.from(text).toString('base64')
const tell = (xml: string, mode: 'test' | 'live' = 'live') =>
  house.dash.rails.read({ body: { content: base64(xml), mode } })

let numbered = 0
const booking = (endToEndId: string, amount: string, more: Partial<Booking> = {}, inTx = ''): Booking => ({
  amount,
  direction: 'DBIT',
  reference: `BOOKED-${++numbered}`,
  ...more,
  details: [`<TxDtls><Refs><EndToEndId>${endToEndId}</EndToEndId></Refs>${inTx}</TxDtls>`],
})
const returned = (endToEndId: string, amount: string, code = 'AC04') =>
  booking(endToEndId, amount, { direction: 'CRDT' }, `<RtrInf><Rsn><Cd>${code}</Cd></Rsn></RtrInf>`)

interface Answer {
  readonly to: string
  readonly group?: string
  readonly payments?: readonly (readonly [endToEndId: string, status: string, code?: string])[]
}
const reason = (code?: string) => (code ? `<StsRsnInf><Rsn><Cd>${code}</Cd></Rsn></StsRsnInf>` : '')
const pain002 = ({ to, group = '<GrpSts>PART</GrpSts>', payments = [] }: Answer) => `<?xml version="1.0"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.10"><CstmrPmtStsRpt>
  <GrpHdr><MsgId>STS-${++numbered}</MsgId><CreDtTm>2026-11-20T10:00:00</CreDtTm></GrpHdr>
  <OrgnlGrpInfAndSts><OrgnlMsgId>${to}</OrgnlMsgId><OrgnlMsgNmId>pain.001.001.09</OrgnlMsgNmId>${group}</OrgnlGrpInfAndSts>
  <OrgnlPmtInfAndSts><OrgnlPmtInfId>${to}</OrgnlPmtInfId>${payments
    .map(
      ([endToEndId, status, code]) =>
        `<TxInfAndSts><OrgnlEndToEndId>${endToEndId}</OrgnlEndToEndId><TxSts>${status}</TxSts>${reason(code)}</TxInfAndSts>`,
    )
    .join('')}</OrgnlPmtInfAndSts>
</CstmrPmtStsRpt></Document>`

const proven = async () => {
  for (const by of lives) expect(await made(by.ledger.verify({}))).toMatchObject({ ok: true, problems: [] })
}

/** The one that was made last. */
const lastFile = async () => {
  const { data } = await made(
    house.dash.rails.files({ query: { mode: 'live', status: 'handed_over', limit: 1 } }),
  )
  if (!data[0]) throw new Error('no file was handed over')
  return data[0]
}

beforeEach(cutOff)

describe('payments by files', () => {
  test('wait for their cut-off, leave in one file, settle by the statement and come back by a return', async () => {
    const before = readdirSync(out).length
    const [one, two] = [
      await aSubmitted(live, { amountEuros: 12.34 }),
      await aSubmitted(other, { amountEuros: 1000 }),
    ]
    expect(await get(one.id)).toMatchObject({ payeeCheck: { result: 'not_possible' }, reason: null })
    expect(readdirSync(out).length).toBe(before)
    await cutOff()
    const file = await lastFile()
    expect(file).toMatchObject({ payments: 2, totalEuros: 1012.34, scheme: 'sct' })
    const [name, ...others] = await filesOf(one.endToEndId)
    expect([name, others]).toEqual([`sct-${file.executeOn}-${file.messageId}.xml`, []])
    const content = readFileSync(join(out, String(name)), 'utf8')
    expect(createHash('sha256').update(content).digest('hex')).toBe(file.sha256)
    const part = allAt(readXml(content), 'CstmrCdtTrfInitn/PmtInf')[0]
    expect(part && [textAt(part, 'CtrlSum'), textAt(part, 'DbtrAcct/Id/IBAN')]).toEqual(['1012.34', ACCOUNT])
    expect(
      part &&
        allAt(part, 'CdtTrfTxInf/PmtId/EndToEndId')
          .map(({ text }) => text)
          .sort(),
    ).toEqual([one.endToEndId, two.endToEndId].sort())

    const statement = camt([booking(one.endToEndId, '12.34'), booking(two.endToEndId, '1000.00')])
    writeFileSync(join(inbox, 'statement.xml'), statement)
    await emptyInbox(worker)
    expect(readdirSync(join(inbox, 'read'))).toContain('statement.xml')
    await sweep()
    expect([(await get(one.id)).status, (await get(two.id, other)).status]).toEqual([
      'completed',
      'completed',
    ])

    const back = await made(tell(camt([returned(one.endToEndId, '12.34')], { kind: 'camt.054' })))
    expect(back.payments).toEqual([
      {
        ...{ endToEndId: one.endToEndId, transferId: one.id, notice: 'returned', reasonCode: 'AC04' },
        outcome: 'taken',
      },
    ])
    await sweep()
    expect(await get(one.id)).toMatchObject({ status: 'returned', reason: { code: 'AC04' } })
    expect((await made(tell(statement))).messageId).toBe('MSG-1')
    await sweep()
    expect((await get(one.id)).status).toBe('returned')
    await proven()
  })

  test('that are instant leave at once, each by itself', async () => {
    const one = await make(live, { scheme: 'sct_inst' })
    await sweep()
    await sweep()
    const [name] = await filesOf(String(one.endToEndId))
    expect(name).toMatch(/^sct_inst-/)
    expect(readFileSync(join(out, String(name)), 'utf8')).toContain('<LclInstrm><Cd>INST</Cd></LclInstrm>')
    const { messageId } = await lastFile()
    await made(tell(pain002({ to: messageId, payments: [[String(one.endToEndId), 'ACCC']] })))
    await sweep()
    expect((await get(one.id)).status).toBe('completed')
  })

  test('are in no file that was made before them, and a cut-off without payments makes none', async () => {
    const one = await aSubmitted()
    await closeFiles()
    const two = await make(live)
    await Promise.all([sweep(), sweep()])
    await cutOff()
    for (const { endToEndId } of [one, two]) expect(await filesOf(String(endToEndId))).toHaveLength(1)
    const [row] = await house.sql<{ open: string }>(
      `select count(*) as open from sepa_files where status = 'open'`,
    )
    expect(row?.open).toBe('0')
  })

  test('wait while the rail is another one, and are then for a day that is not over', async () => {
    const { endToEndId } = await aSubmitted()
    await house.sql(`update sepa_files set execute_on = '2026-01-05' where status = 'open'`)
    await closeFiles()
    await expect(endOverdue(pretender)).rejects.toThrow()
    expect(await filesOf(endToEndId)).toEqual([])
    await sweep()
    const { executeOn } = await lastFile()
    expect(isBankDay(executeOn) && executeOn >= new Date().toISOString().slice(0, 10)).toBe(true)
    expect(await filesOf(endToEndId)).toEqual([expect.stringContaining(`sct-${executeOn}-`)])
  })

  test('are asked back while they wait, and then leave in no file; later only the bank can be asked', async () => {
    const [waiting, ordered] = [await aSubmitted(), await aSubmitted()]
    const recall = async (id: string) => {
      await made(live.transfers.recall({ params: { id }, body: { reason: 'Paid twice' } }))
      await makeDue()
      await sweep()
    }
    await recall(waiting.id)
    expect(await get(waiting.id)).toMatchObject({ status: 'rejected', recall: { status: 'accepted' } })
    await cutOff()
    expect([await filesOf(waiting.endToEndId), (await filesOf(ordered.endToEndId)).length]).toEqual([[], 1])
    await recall(ordered.id)
    expect(await get(ordered.id)).toMatchObject({
      status: 'submitted',
      recall: {
        status: 'refused',
        answer: { code: 'not_by_files', message: expect.stringContaining('Ask the bank') },
      },
    })
    await proven()
  })
})

describe('a worker that is killed', () => {
  const killedAfter =
    (...keys: string[]): Execute =>
    async call => {
      const outcome = await worker.execute(call)
      if (keys.includes(call.operation.key)) throw new Error('the worker was killed')
      return outcome
    }

  test('after any step: one payment, in one file, that the bank is given once', async () => {
    const transfer = await make(live)
    const endToEndId = String(transfer.endToEndId)
    for (const key of ['transfers.verify', 'transfers.submit']) {
      await expect(sweep(killedAfter(key))).rejects.toThrow()
      await makeDue()
    }
    await closeFiles()
    for (const key of ['rails.make', 'rails.stage', 'rails.release'])
      await expect(sweep(killedAfter(key))).rejects.toThrow()
    await times(3, () => sweep())
    expect(await filesOf(endToEndId)).toHaveLength(1)
    const orders = await house.sql('select 1 from sepa_instructions where end_to_end_id = $1', [endToEndId])
    expect(orders).toHaveLength(1)
    expect((await get(transfer.id)).status).toBe('submitted')
  })

  test('before it has recorded what it did: the bank that has taken the file gets no second one', async () => {
    const { endToEndId } = await aSubmitted()
    await closeFiles()
    await house.sql(`
      create function refuse_handing_over() returns trigger language plpgsql as $$
      begin if new.status = 'handed_over' then raise exception 'the worker was killed'; end if; return new; end $$;
      create trigger refuse before update on sepa_files for each row execute function refuse_handing_over()`)
    await expect(sweep()).rejects.toThrow()
    const [name] = await filesOf(endToEndId)
    rmSync(join(out, String(name)))
    await house.sql('drop trigger refuse on sepa_files')
    await house.sql(`update sepa_files set due_at = now() where status = 'staged'`)
    await sweep()
    expect(await filesOf(endToEndId)).toEqual([])
    expect(name).toContain((await lastFile()).messageId)
  })

  test('many workers at once: one file, whose content nobody can change', async () => {
    const { endToEndId } = await aSubmitted()
    await closeFiles()
    await times(4, () => sweep())
    expect(await filesOf(endToEndId)).toHaveLength(1)
    const { id } = await lastFile()
    for (const change of [`set content = 'x'`, 'set total_cents = 1'])
      await expect(house.sql(`update sepa_files ${change} where id = $1`, [id])).rejects.toThrow(/is made/)
    await expect(house.sql('delete from sepa_instructions where file_id = $1', [id])).rejects.toThrow(
      /is ordered/,
    )
  })
})

describe('what a bank says of a file', () => {
  test('counts for those that it names, and for all others; the money of the rejected is back', async () => {
    const [named, second, third] = [await aSubmitted(), await aSubmitted(other), await aSubmitted()]
    await cutOff()
    const { messageId: to } = await lastFile()
    const accepted = await made(
      tell(pain002({ to, group: '<GrpSts>ACTC</GrpSts>', payments: [[named.endToEndId, 'ACTC']] })),
    )
    expect(accepted).toMatchObject({
      kind: 'pain.002',
      credits: null,
      payments: [{ outcome: 'on_its_way', notice: null }],
    })
    await made(
      tell(
        pain002({
          to,
          payments: [
            [named.endToEndId, 'RJCT', 'AC04'],
            ['nobody', 'RJCT'],
          ],
        }),
      ),
    )
    await sweep()
    expect(await get(named.id)).toMatchObject({ status: 'rejected', reason: { code: 'AC04' } })
    expect((await get(third.id)).status).toBe('submitted')
    const group = `<GrpSts>RJCT</GrpSts>${reason('DU01')}`
    const all = await made(tell(pain002({ to, group, payments: [[third.endToEndId, 'ACSC']] })))
    expect(all.payments.map(({ transferId, notice }) => [transferId, notice])).toEqual(
      expect.arrayContaining([
        [third.id, 'settled'],
        [second.id, 'rejected'],
        [named.id, 'rejected'],
      ]),
    )
    await sweep()
    expect((await get(third.id)).status).toBe('completed')
    expect(await get(second.id, other)).toMatchObject({ status: 'rejected', reason: { code: 'DU01' } })
    await proven()
  })

  test('of none that was sent, or of payments that are none of ours, is listed and changes nothing', async () => {
    const one = await aSubmitted()
    await cutOff()
    const { messageId: to } = await lastFile()
    const outcomes = async (xml: string, mode: 'test' | 'live' = 'live') =>
      (await made(tell(xml, mode))).payments.map(({ outcome }) => outcome)
    expect(await outcomes(pain002({ to: 'other', group: '<GrpSts>RJCT</GrpSts>' }))).toEqual(['unknown_file'])
    expect(await outcomes(pain002({ to, payments: [[one.endToEndId, 'RJCT']] }), 'test')).toEqual([
      'unknown_file',
    ])
    expect(await outcomes(pain002({ to, payments: [['nobody', 'RJCT']] }))).toEqual(['unknown_payment'])
    const wrong = [
      booking(one.endToEndId, '12.51'),
      returned(one.endToEndId, '12.49'),
      booking('NOTPROVIDED', '5.00'),
    ]
    expect(await outcomes(camt(wrong))).toEqual(['amount_differs', 'amount_differs', 'unknown_payment'])
    const [{ details = [] }] = [booking(one.endToEndId, '12.50')]
    const together = { ...booking(one.endToEndId, '25.00'), details: [...details, ...details] }
    expect(await outcomes(camt([together]))).toEqual(['amount_differs', 'amount_differs'])
    const unbooked = [
      booking(one.endToEndId, '12.50', { status: '<Cd>PDNG</Cd>' }),
      booking(one.endToEndId, '12.50', { currency: 'USD' }),
      booking(one.endToEndId, '12.50', { more: '<RvslInd>true</RvslInd>' }),
    ]
    const passed = await made(tell(camt(unbooked)))
    expect([passed.payments, passed.credits?.skipped.length]).toEqual([[], 3])
    await sweep()
    expect((await get(one.id)).status).toBe('submitted')
  })

  test('counts once, though the same file comes many times at once', async () => {
    const one = await aSubmitted()
    await cutOff()
    const xml = camt([booking(one.endToEndId, '12.50'), { reference: `IN-${++numbered}`, amount: '5.00' }])
    const answers = await times(5, () => made(tell(xml)))
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
    expect(answers[0]?.credits).toMatchObject({ unmatched: 1, known: 0, skipped: [] })
    const [row] = await house.sql<{ count: string }>(
      'select count(*) from sepa_notices where transfer_id = $1',
      [one.id],
    )
    expect(row?.count).toBe('1')
    await times(3, () => sweep())
    expect((await get(one.id)).status).toBe('completed')
    const { data } = await made(house.dash.rails.messages({ query: { kind: 'camt.053', limit: 1 } }))
    expect(data[0]).toEqual(answers[0])
    await proven()
  })

  test.each([
    ['no XML', 'hello'],
    ['a document type', '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>'],
    ['entities of its own', pain002({ to: 'x' }).replace('<GrpHdr>', '<GrpHdr>&own;')],
    ['what is nested too deep', '<a>'.repeat(40) + '</a>'.repeat(40)],
    ['another message', pain002({ to: 'x' }).replaceAll('pain.002', 'pain.008')],
    ['an order', pain002({ to: 'x' }).replace('pain.001.001.09', 'pain.008.001.08')],
    ['no message that it answers', pain002({ to: '' })],
    ['a status that is none', pain002({ to: 'x', payments: [['e', 'MAYBE']] })],
  ])('with %s is refused, by a 400 at the door and in the inbox', async (_, xml) => {
    const { status, code, error } = await tell(xml)
    expect([status, code, error]).toEqual([400, 'file_unreadable', expect.stringContaining('content: ')])
    writeFileSync(join(inbox, 'bad.xml'), xml)
    await emptyInbox(worker)
    expect(readdirSync(join(inbox, 'refused'))).toContain('bad.xml')
  })
})

describe('the order of a transfer', () => {
  test('is a message of it alone, before it has left and after, in either mode', async () => {
    const one = await aSubmitted()
    const [{ key, client }] = owners
    const mine = await aPayment(client)
    const answer = await house.http('GET', `/transfers/${mine.id}/pain001`, { token: key })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/xml'])
    expect(answer.text).toContain(`<EndToEndId>${mine.endToEndId}</EndToEndId>`)
    const { body } = await live.transfers.pain001({ params: { id: one.id } })
    expect(String(body)).toContain(`<IBAN>${ACCOUNT}</IBAN>`)
    expect((await other.transfers.pain001({ params: { id: one.id } })).status).toBe(404)
  })

  test('is refused for one between wallets', async () => {
    const [{ client }] = owners
    const [from, to] = [await aWallet(client, 1), await aWallet(client)]
    const within = await made(
      client.transfers.create({ body: { fromWalletId: from.id, toWalletId: to.id, amountEuros: 1 } }),
    )
    expect((await client.transfers.pain001({ params: { id: within.id } })).code).toBe('transfer_not_by_sepa')
  })
})
