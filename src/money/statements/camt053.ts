import type { XmlElement } from '../../iso20022/xml-reader.ts'
import { element, serialize } from '../../iso20022/xml-writer.ts'
import { dayOf } from '../../values/clock.ts'
import { type Cents, decimal, negated, plus } from '../../values/money.ts'
import type { Movement } from './movements.ts'
import type { Statement } from './statement.ts'

export const CAMT053 = 'urn:iso:std:iso:20022:tech:xsd:camt.053.001.08'

/**
 * XML does not allow these characters. They are replaced, so that a name consisting only of them becomes a
 * missing name.
 */
const NOT_IN_XML = /[\p{Cc}\uFFFE\uFFFF]+/gu

/** Cut to the length that the message allows; undefined if the text is empty. */
function text(name: string, value: string | null, maxLength = 140): XmlElement | undefined {
  const short = [...(value ?? '').replace(NOT_IN_XML, ' ').trim()].slice(0, maxLength).join('')
  return short === '' ? undefined : element(name, short)
}

const within = (names: readonly string[], innermost: XmlElement | undefined): XmlElement | undefined =>
  innermost && names.reduceRight((inner, name) => element(name, [inner]), innermost)

/** camt amounts have no sign: `CdtDbtInd` gives the direction. */
const magnitude = (cents: Cents): string => decimal(cents < 0n ? negated(cents) : cents)
const amount = (cents: Cents): XmlElement => element('Amt', magnitude(cents), { Ccy: 'EUR' })
const indicator = (cents: Cents): XmlElement => element('CdtDbtInd', cents < 0n ? 'DBIT' : 'CRDT')

const accountId = (iban: string | null, otherId: string | null): XmlElement | undefined =>
  iban ? element('Id', [element('IBAN', iban)]) : within(['Id', 'Othr'], text('Id', otherId, 34))

/** Writes piece by piece, so that the whole message is never in memory. */
export async function* camt053Of(
  statement: Statement,
  pages: AsyncIterable<readonly Movement[]>,
): AsyncGenerator<string> {
  yield '<?xml version="1.0" encoding="UTF-8"?>\n'
  yield `<Document xmlns="${CAMT053}"><BkToCstmrStmt>${serialize(headerOf(statement))}<Stmt>\n`
  yield headPartsOf(statement)
    .flatMap(part => (part ? serialize(part) : []))
    .join('\n')
  for await (const page of pages)
    yield page.map(movement => `\n${serialize(entryOf(movement, statement))}`).join('')
  yield '\n</Stmt></BkToCstmrStmt></Document>\n'
}

/** `MsgId` changes with the statement's last entry, so an unchanged statement is the same message. */
const headerOf = ({ id, updatedAt, lastVersion }: Statement): XmlElement =>
  element('GrpHdr', [
    element('MsgId', `${withoutPrefix(id)}-${lastVersion}`),
    element('CreDtTm', updatedAt.toISOString()),
  ])

/** ISO 20022 ids have at most 35 characters. */
const withoutPrefix = (id: string): string => id.slice(id.indexOf('_') + 1)

function headPartsOf(statement: Statement): (XmlElement | undefined)[] {
  const { id, period, updatedAt, from, to, iban, bic, walletId, holder, currency } = statement
  return [
    element('Id', withoutPrefix(id)),
    element('ElctrncSeqNb', period.replace('-', '')),
    element('CreDtTm', updatedAt.toISOString()),
    element('FrToDt', [element('FrDtTm', from.toISOString()), element('ToDtTm', to.toISOString())]),
    element('Acct', [
      accountId(iban, walletId),
      element('Ccy', currency),
      within(['Ownr'], text('Nm', holder)),
      bic ? within(['Svcr', 'FinInstnId'], element('BICFI', bic)) : undefined,
    ]),
    balance('OPBD', statement.openingCents, from),
    balance(statement.status === 'final' ? 'CLBD' : 'ITBD', statement.closingCents, lastDayOf(statement)),
    element('TxsSummry', [
      element('TtlNtries', [
        element('NbOfNtries', String(statement.movements)),
        element('Sum', decimal(plus(statement.inCents, statement.outCents))),
      ]),
      element('TtlCdtNtries', [element('Sum', decimal(statement.inCents))]),
      element('TtlDbtNtries', [element('Sum', decimal(statement.outCents))]),
    ]),
  ]
}

const lastDayOf = ({ to }: Statement): Date => new Date(to.getTime() - 1)

const balance = (code: string, cents: Cents, on: Date): XmlElement =>
  element('Bal', [
    element('Tp', [element('CdOrPrtry', [element('Cd', code)])]),
    amount(cents),
    indicator(cents),
    element('Dt', [element('Dt', dayOf(on))]),
  ])

function entryOf(movement: Movement, { iban, walletId, holder }: Statement): XmlElement {
  const { amountCents, bookedAt, valueDate, postingId, kind } = movement
  const own = { name: holder, iban, walletId }
  const [payer, payee] = amountCents < 0n ? [own, movement] : [movement, own]
  return element('Ntry', [
    amount(amountCents),
    indicator(amountCents),
    element('Sts', [element('Cd', 'BOOK')]),
    element('BookgDt', [element('DtTm', bookedAt.toISOString())]),
    element('ValDt', [element('Dt', valueDate)]),
    element('AcctSvcrRef', postingId),
    element('BkTxCd', [codeOf(movement)]),
    element('NtryDtls', [
      element('TxDtls', [
        element('Refs', [element('AcctSvcrRef', postingId), text('EndToEndId', movement.endToEndId, 35)]),
        amount(amountCents),
        indicator(amountCents),
        element('RltdPties', [...party('Dbtr', payer), ...party('Cdtr', payee)]),
        within(['RmtInf'], text('Ustrd', movement.reference)),
        text('AddtlTxInf', kind.words, 500),
      ]),
    ]),
  ])
}

/** A returned payment stays in the family of issued transfers (`ICDT`), though it is a credit. */
function codeOf({ kind, amountCents }: Movement): XmlElement {
  const isIssued = amountCents < 0n || kind.code === 'RRTN'
  const ofTransfers = isIssued ? 'ICDT' : 'RCDT'
  const family = [element('Cd', kind.family ?? ofTransfers), element('SubFmlyCd', kind.code)]
  return element('Domn', [element('Cd', 'PMNT'), element('Fmly', family)])
}

type Side = Pick<Movement, 'name' | 'iban' | 'walletId'>

const party = (role: 'Dbtr' | 'Cdtr', { name, iban, walletId }: Side): (XmlElement | undefined)[] => [
  within([role, 'Pty'], text('Nm', name)),
  within([`${role}Acct`], accountId(iban, walletId)),
]
