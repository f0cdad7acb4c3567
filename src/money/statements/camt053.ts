import type { XmlElement } from '../../iso20022/xml-reader.ts'
import { serializeXml, xmlElement } from '../../iso20022/xml-writer.ts'
import { utcDay } from '../../values/clock.ts'
import { addCents, type Cents, formatDecimal, negateCents } from '../../values/money.ts'
import { chargedRate, type StatementMovement } from './movements.ts'
import type { Statement } from './statement.ts'

export const CAMT053_NAMESPACE = 'urn:iso:std:iso:20022:tech:xsd:camt.053.001.08'

/**
 * XML does not allow these characters. They are replaced, so that a name consisting only of them becomes a
 * missing name.
 */
const NOT_IN_XML = /[\p{Cc}\uFFFE\uFFFF]+/gu

/** Cut to the length that the message allows; undefined if the text is empty. */
function text(name: string, value: string | null, maxLength = 140): XmlElement | undefined {
  const short = [...(value ?? '').replace(NOT_IN_XML, ' ').trim()].slice(0, maxLength).join('')
  return short === '' ? undefined : xmlElement(name, short)
}

const within = (names: readonly string[], innermost: XmlElement | undefined): XmlElement | undefined =>
  innermost && names.reduceRight((inner, name) => xmlElement(name, [inner]), innermost)

/** camt amounts have no sign: `CdtDbtInd` gives the direction. */
const magnitude = (cents: Cents): string => formatDecimal(cents < 0n ? negateCents(cents) : cents)
const amount = (cents: Cents): XmlElement => xmlElement('Amt', magnitude(cents), { Ccy: 'EUR' })
const indicator = (cents: Cents): XmlElement => xmlElement('CdtDbtInd', cents < 0n ? 'DBIT' : 'CRDT')

const accountId = (iban: string | null, otherId: string | null): XmlElement | undefined =>
  iban ? xmlElement('Id', [xmlElement('IBAN', iban)]) : within(['Id', 'Othr'], text('Id', otherId, 34))

/** Writes piece by piece, so that the whole message is never in memory. */
export async function* renderCamt053(
  statement: Statement,
  pages: AsyncIterable<readonly StatementMovement[]>,
): AsyncGenerator<string> {
  yield '<?xml version="1.0" encoding="UTF-8"?>\n'
  yield `<Document xmlns="${CAMT053_NAMESPACE}"><BkToCstmrStmt>${serializeXml(headerOf(statement))}<Stmt>\n`
  yield headPartsOf(statement)
    .flatMap(part => (part ? serializeXml(part) : []))
    .join('\n')
  for await (const page of pages)
    yield page.map(movement => `\n${serializeXml(entryOf(movement, statement))}`).join('')
  yield '\n</Stmt></BkToCstmrStmt></Document>\n'
}

/** `MsgId` changes with the statement's last entry, so an unchanged statement is the same message. */
const headerOf = ({ id, updatedAt, lastVersion }: Statement): XmlElement =>
  xmlElement('GrpHdr', [
    xmlElement('MsgId', `${withoutPrefix(id)}-${lastVersion}`),
    xmlElement('CreDtTm', updatedAt.toISOString()),
  ])

/** ISO 20022 ids have at most 35 characters. */
const withoutPrefix = (id: string): string => id.slice(id.indexOf('_') + 1)

function headPartsOf(statement: Statement): (XmlElement | undefined)[] {
  const { id, period, updatedAt, from, to, iban, bic, walletId, holder, currency } = statement
  return [
    xmlElement('Id', withoutPrefix(id)),
    xmlElement('ElctrncSeqNb', period.replace('-', '')),
    xmlElement('CreDtTm', updatedAt.toISOString()),
    xmlElement('FrToDt', [xmlElement('FrDtTm', from.toISOString()), xmlElement('ToDtTm', to.toISOString())]),
    xmlElement('Acct', [
      accountId(iban, walletId),
      xmlElement('Ccy', currency),
      within(['Ownr'], text('Nm', holder)),
      bic ? within(['Svcr', 'FinInstnId'], xmlElement('BICFI', bic)) : undefined,
    ]),
    balance('OPBD', statement.openingCents, from),
    balance(statement.status === 'final' ? 'CLBD' : 'ITBD', statement.closingCents, lastDayOf(statement)),
    xmlElement('TxsSummry', [
      xmlElement('TtlNtries', [
        xmlElement('NbOfNtries', String(statement.movements)),
        xmlElement('Sum', formatDecimal(addCents(statement.inCents, statement.outCents))),
      ]),
      xmlElement('TtlCdtNtries', [xmlElement('Sum', formatDecimal(statement.inCents))]),
      xmlElement('TtlDbtNtries', [xmlElement('Sum', formatDecimal(statement.outCents))]),
    ]),
  ]
}

const lastDayOf = ({ to }: Statement): Date => new Date(to.getTime() - 1)

const balance = (code: string, cents: Cents, on: Date): XmlElement =>
  xmlElement('Bal', [
    xmlElement('Tp', [xmlElement('CdOrPrtry', [xmlElement('Cd', code)])]),
    amount(cents),
    indicator(cents),
    xmlElement('Dt', [xmlElement('Dt', utcDay(on))]),
  ])

function entryOf(movement: StatementMovement, { iban, walletId, holder }: Statement): XmlElement {
  const { amountCents, bookedAt, valueDate, postingId, kind } = movement
  const own = { name: holder, iban, walletId }
  const [payer, payee] = amountCents < 0n ? [own, movement] : [movement, own]
  return xmlElement('Ntry', [
    amount(amountCents),
    indicator(amountCents),
    xmlElement('Sts', [xmlElement('Cd', 'BOOK')]),
    xmlElement('BookgDt', [xmlElement('DtTm', bookedAt.toISOString())]),
    xmlElement('ValDt', [xmlElement('Dt', valueDate)]),
    xmlElement('AcctSvcrRef', postingId),
    xmlElement('BkTxCd', [codeOf(movement)]),
    xmlElement('NtryDtls', [
      xmlElement('TxDtls', [
        xmlElement('Refs', [
          xmlElement('AcctSvcrRef', postingId),
          text('EndToEndId', movement.endToEndId, 35),
        ]),
        amount(amountCents),
        indicator(amountCents),
        originalOf(movement),
        xmlElement('RltdPties', [...party('Dbtr', payer), ...party('Cdtr', payee)]),
        within(['RmtInf'], text('Ustrd', movement.reference)),
        text('AddtlTxInf', kind.words, 500),
      ]),
    ]),
  ])
}

function originalOf(movement: StatementMovement): XmlElement | undefined {
  const { original, amountCents } = movement
  if (original === null) return undefined
  const { amount: inCurrency, currency } = original
  return xmlElement('AmtDtls', [
    xmlElement('InstdAmt', [
      xmlElement('Amt', inCurrency, { Ccy: currency }),
      xmlElement('CcyXchg', [
        xmlElement('SrcCcy', currency),
        xmlElement('TrgtCcy', 'EUR'),
        xmlElement('UnitCcy', 'EUR'),
        xmlElement('XchgRate', chargedRate(original, movement)),
      ]),
    ]),
    xmlElement('TxAmt', [amount(amountCents)]),
  ])
}

/** A returned payment stays in the family of issued transfers (`ICDT`), though it is a credit. */
function codeOf({ kind, amountCents }: StatementMovement): XmlElement {
  const isIssued = amountCents < 0n || kind.code === 'RRTN'
  const ofTransfers = isIssued ? 'ICDT' : 'RCDT'
  const family = [xmlElement('Cd', kind.family ?? ofTransfers), xmlElement('SubFmlyCd', kind.code)]
  return xmlElement('Domn', [xmlElement('Cd', 'PMNT'), xmlElement('Fmly', family)])
}

type Side = Pick<StatementMovement, 'name' | 'iban' | 'walletId'>

const party = (role: 'Dbtr' | 'Cdtr', { name, iban, walletId }: Side): (XmlElement | undefined)[] => [
  within([role, 'Pty'], text('Nm', name)),
  within([`${role}Acct`], accountId(iban, walletId)),
]
