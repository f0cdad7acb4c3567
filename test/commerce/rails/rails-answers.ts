import { readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from '@jest/globals'
import { readInbox } from '../../../src/app/sepa-inbox.ts'
import { times } from '../../support/at-once.ts'
import { aSepaTransfer, aWallet, bodyOf } from '../../support/factories.ts'
import { bankFiles } from '../../support/money/bank-files.ts'
import { ACCOUNT, type Booking, bookingOf, camt, returnedBooking } from '../../support/money/camt.ts'
import { pain002, reasonXml } from '../../support/money/pain002.ts'

const {
  live,
  owners,
  worker,
  inbox,
  service,
  proveLedgers,
  get,
  sweep,
  receiveFile,
  lastFile,
  cutOff,
  other,
  aSubmitted,
} = await bankFiles()

beforeEach(cutOff)

describe('the bank’s report on a file', () => {
  test('applies to the payments that it names and to all others, and rejected money comes back', async () => {
    const [named, second, third] = [await aSubmitted(), await aSubmitted(other), await aSubmitted()]
    await cutOff()
    const { messageId: to } = await lastFile()
    const accepted = await bodyOf(
      receiveFile(pain002({ to, group: '<GrpSts>ACTC</GrpSts>', payments: [[named.endToEndId, 'ACTC']] })),
    )
    expect(accepted).toMatchObject({
      kind: 'pain.002',
      credits: null,
      payments: [{ outcome: 'on_its_way', notice: null }],
    })
    await bodyOf(
      receiveFile(
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
    const group = `<GrpSts>RJCT</GrpSts>${reasonXml('DU01')}`
    const all = await bodyOf(receiveFile(pain002({ to, group, payments: [[third.endToEndId, 'ACSC']] })))
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
    await proveLedgers()
  })

  test('is of the whole file for a payment that it names with a reason and no status', async () => {
    const [named, unnamed] = [await aSubmitted(), await aSubmitted(other)]
    await cutOff()
    const { messageId: to } = await lastFile()
    const payments = [[named.endToEndId, '', 'AC04']] as const
    const report = pain002({ to, group: '<GrpSts>RJCT</GrpSts>', payments })
    const answer = await bodyOf(receiveFile(report.replace('<TxSts></TxSts>', '')))
    expect(answer.payments.map(({ status, notice, outcome }) => [status, notice, outcome])).toEqual(
      Array(2).fill(['RJCT', 'rejected', 'taken']),
    )
    await sweep()
    expect(await get(named.id)).toMatchObject({ status: 'rejected', reason: { code: 'AC04' } })
    expect((await get(unnamed.id, other)).status).toBe('rejected')
    await proveLedgers()
  })

  test('is listed without effect if the file or its payments are not ours', async () => {
    const transfer = await aSubmitted()
    await cutOff()
    const { messageId: to } = await lastFile()
    const outcomes = async (xml: string, mode: 'test' | 'live' = 'live') =>
      (await bodyOf(receiveFile(xml, mode))).payments.map(({ outcome }) => outcome)
    expect(await outcomes(pain002({ to: 'other', group: '<GrpSts>RJCT</GrpSts>' }))).toEqual(['unknown_file'])
    expect(await outcomes(pain002({ to, payments: [[transfer.endToEndId, 'RJCT']] }), 'test')).toEqual([
      'unknown_file',
    ])
    expect(await outcomes(pain002({ to, payments: [['nobody', 'RJCT']] }))).toEqual(['unknown_payment'])
    const wrong = [
      bookingOf(transfer.endToEndId, '12.51'),
      returnedBooking(transfer.endToEndId, '12.49'),
      bookingOf('NOTPROVIDED', '5.00'),
    ]
    expect(await outcomes(camt(wrong))).toEqual(['amount_differs', 'amount_differs', 'unknown_payment'])
    const [{ details = [] }] = [bookingOf(transfer.endToEndId, '12.50')]
    const together = { ...bookingOf(transfer.endToEndId, '25.00'), details: [...details, ...details] }
    expect(await outcomes(camt([together]))).toEqual(['amount_differs', 'amount_differs'])
    const unbooked = [
      bookingOf(transfer.endToEndId, '12.50', { status: '<Cd>PDNG</Cd>' }),
      bookingOf(transfer.endToEndId, '12.50', { currency: 'USD' }),
      bookingOf(transfer.endToEndId, '12.50', { more: '<RvslInd>true</RvslInd>' }),
    ]
    const skipped = await bodyOf(receiveFile(camt(unbooked)))
    expect([skipped.payments, skipped.credits?.skipped.length]).toEqual([[], 3])
    await sweep()
    expect((await get(transfer.id)).status).toBe('submitted')
  })

  test('takes effect once, even if it arrives many times at once', async () => {
    const transfer = await aSubmitted()
    await cutOff()
    const xml = camt([bookingOf(transfer.endToEndId, '12.50'), { reference: 'IN-1', amount: '5.00' }])
    const answers = await times(5, () => bodyOf(receiveFile(xml)))
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
    expect(answers[0]?.credits).toMatchObject({ unmatched: 1, known: 0, skipped: [] })
    const [row] = await service.sql<{ count: string }>(
      'select count(*) from sepa_notices where transfer_id = $1',
      [transfer.id],
    )
    expect(row?.count).toBe('1')
    await times(3, () => sweep())
    expect((await get(transfer.id)).status).toBe('completed')
    const { data } = await bodyOf(service.dash.rails.messages({ query: { kind: 'camt.053', limit: 1 } }))
    expect(data[0]).toEqual(answers[0])
    await proveLedgers()
  })

  test.each([
    ['no XML', 'hello'],
    ['a document type', '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>'],
    ['entities of its own', pain002({ to: 'x' }).replace('<GrpHdr>', '<GrpHdr>&own;')],
    ['what is nested too deep', '<a>'.repeat(40) + '</a>'.repeat(40)],
    ['another message', pain002({ to: 'x' }).replaceAll('pain.002', 'pain.008')],
    ['an order', pain002({ to: 'x' }).replace('pain.001.001.09', 'pain.008.001.08')],
    ['no message that it answers', pain002({ to: '' })],
    [
      'more attributes than any bank sends',
      `<a${Array.from({ length: 60_000 }, (_, n) => ` a${n}=""`).join('')}/>`,
    ],
    [
      'more payments than one transaction takes',
      pain002({ to: 'x' }).replace(
        '</CstmrPmtStsRpt>',
        `<OrgnlPmtInfAndSts>${'<TxInfAndSts/>'.repeat(10_001)}</OrgnlPmtInfAndSts></CstmrPmtStsRpt>`,
      ),
    ],
  ])('with %s is refused, by the API with 400 and in the inbox folder', async (_, xml) => {
    const { status, code, error } = await receiveFile(xml)
    expect([status, code, error]).toEqual([400, 'file_unreadable', expect.stringContaining('content: ')])
    writeFileSync(join(inbox, 'bad.xml'), xml)
    await readInbox(worker)
    expect(readdirSync(join(inbox, 'refused'))).toContain('bad.xml')
  })

  test('of another kind is refused with the kinds that are read', async () => {
    const { error } = await receiveFile('<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.052.001.08"/>')
    expect(error).toBe('content: It is none of pain.002, camt.053 and camt.054.')
  })
})

test('a credit whose payment alone has the code of a return brings the money back', async () => {
  const { id, endToEndId } = await aSubmitted()
  const family = '<Fmly><Cd>RCDT</Cd><SubFmlyCd>RRTN</SubFmlyCd></Fmly>'
  const code = `<BkTxCd><Domn><Cd>PMNT</Cd>${family}</Domn></BkTxCd>`
  const { payments } = await bodyOf(
    receiveFile(camt([bookingOf(endToEndId, '12.50', { direction: 'CRDT' }, code)])),
  )
  expect(payments).toMatchObject([{ transferId: id, notice: 'returned', outcome: 'taken' }])
  await sweep()
  expect((await get(id)).status).toBe('returned')
  await proveLedgers()
})

test('a file that takes the place of one that is being read is read next', async () => {
  const [first, second] = [await aSubmitted(), await aSubmitted()]
  const put = ({ endToEndId }: typeof first) => {
    writeFileSync(join(inbox, '.statement'), camt([bookingOf(endToEndId, '12.50')]))
    renameSync(join(inbox, '.statement'), join(inbox, 'statement.xml'))
  }
  put(first)
  const execute: typeof worker.execute = async call => {
    const answer = await worker.execute(call)
    put(second)
    return answer
  }
  await readInbox({ ...worker, execute })
  await readInbox(worker)
  await sweep()
  expect([(await get(first.id)).status, (await get(second.id)).status]).toEqual(['completed', 'completed'])
})

describe('a credit of returned payments and of payers', () => {
  const mixed = (endToEndId: string, amounts: readonly [string, string], more: Partial<Booking> = {}) => {
    const [returned, paid] = amounts.map(amount => `<Amt Ccy="EUR">${amount}</Amt>`)
    const part = (id: string, text: string) => bookingOf(id, '', {}, text).details ?? []
    const details = [
      ...part(endToEndId, `${returned}<RtrInf><Rsn><Cd>AC04</Cd></Rsn></RtrInf>`),
      ...part('INV-17', String(paid)),
    ]
    return { ...bookingOf(endToEndId, '20.00', { direction: 'CRDT', ...more }), details }
  }

  test('brings back the money of the payments, and that of the payers in', async () => {
    const { id, endToEndId } = await aSubmitted()
    const file = await bodyOf(receiveFile(camt([mixed(endToEndId, ['12.50', '7.50'])])))
    expect(file.payments).toMatchObject([{ transferId: id, notice: 'returned', outcome: 'taken' }])
    expect(file.credits).toMatchObject({ entries: 1, unmatched: 1, skipped: [] })
    await sweep()
    expect((await get(id)).status).toBe('returned')
    await proveLedgers()
  })

  test('that is known by its sum alone waits for a person', async () => {
    const { id, endToEndId } = await aSubmitted()
    const file = await bodyOf(receiveFile(camt([mixed(endToEndId, ['12.50', '7.49'])])))
    expect(file.payments).toMatchObject([{ transferId: id, outcome: 'amount_differs' }])
    expect(file.credits).toMatchObject({ entries: 1, unmatched: 1, skipped: [] })
    await sweep()
    expect((await get(id)).status).toBe('submitted')
    await proveLedgers()
  })

  test('without a reference of the bank is listed as skipped, with its returned payment', async () => {
    const { endToEndId } = await aSubmitted()
    const entry = mixed(endToEndId, ['12.50', '7.50'], { reference: null })
    const file = await bodyOf(receiveFile(camt([entry])))
    expect(file.payments).toMatchObject([{ outcome: 'taken' }])
    expect(file.credits?.skipped).toEqual([{ bankReference: null, reason: 'no_bank_reference' }])
    await sweep()
    await proveLedgers()
  })
})

describe('a status that is not known', () => {
  test('is kept and noted, of a payment and of the whole file, and the rest of the file counts', async () => {
    const [odd, settled, rejected] = [await aSubmitted(), await aSubmitted(other), await aSubmitted()]
    await cutOff()
    const { messageId: to } = await lastFile()
    const payments = [
      [odd.endToEndId, 'MAYBE'],
      [settled.endToEndId, 'ACSC'],
      [rejected.endToEndId, 'RJCT', 'ZZ99'],
    ] as const
    const xml = pain002({ to, group: `<GrpSts>PERHAPS</GrpSts>${reasonXml('NARR')}`, payments })
    const answer = await bodyOf(receiveFile(xml))
    const of = (transferId: string | null) => answer.payments.find(entry => entry.transferId === transferId)
    expect(of(odd.id)).toMatchObject({ status: 'MAYBE', notice: null, outcome: 'unknown_status' })
    expect(of(odd.id)?.note).toContain('MAYBE')
    expect(of(null)).toMatchObject({
      endToEndId: null,
      status: 'PERHAPS',
      reasonCode: 'NARR',
      outcome: 'unknown_status',
    })
    expect(of(settled.id)).toMatchObject({ status: 'ACSC', outcome: 'taken', note: null })
    expect(of(rejected.id)).toMatchObject({ reasonCode: 'ZZ99', note: expect.stringContaining('ZZ99') })
    await sweep()
    expect((await get(odd.id)).status).toBe('submitted')
    expect((await get(settled.id, other)).status).toBe('completed')
    expect(await get(rejected.id)).toMatchObject({ status: 'rejected', reason: { code: 'ZZ99' } })
    const { data } = await bodyOf(service.dash.rails.messages({ query: { kind: 'pain.002', limit: 1 } }))
    expect(data[0]).toEqual(answer)
    const elsewhere = pain002({ to: 'other', group: '<GrpSts>PERHAPS</GrpSts>' })
    expect((await bodyOf(receiveFile(elsewhere))).payments).toMatchObject([
      { status: 'PERHAPS', outcome: 'unknown_file' },
    ])
    await proveLedgers()
  })
})

describe('the order of a transfer', () => {
  test('is a message with this payment alone, before and after submission, in either mode', async () => {
    const transfer = await aSubmitted()
    const [{ key, client }] = owners
    const mine = await aSepaTransfer(client)
    const answer = await service.http('GET', `/transfers/${mine.id}/pain001`, { token: key })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/xml'])
    expect(answer.text).toContain(`<EndToEndId>${mine.endToEndId}</EndToEndId>`)
    const { body } = await live.transfers.pain001({ params: { id: transfer.id } })
    expect(String(body)).toContain(`<IBAN>${ACCOUNT}</IBAN>`)
    expect((await other.transfers.pain001({ params: { id: transfer.id } })).status).toBe(404)
  })

  test('is refused for a transfer between wallets', async () => {
    const [{ client }] = owners
    const [from, to] = [await aWallet(client, 1), await aWallet(client)]
    const within = await bodyOf(
      client.transfers.create({ body: { fromWalletId: from.id, toWalletId: to.id, amountEuros: 1 } }),
    )
    expect((await client.transfers.pain001({ params: { id: within.id } })).code).toBe('transfer_not_by_sepa')
  })
})
