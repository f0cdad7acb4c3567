import type { Order, Ordered } from '../ports/sepa-rail.ts'
import { decimal } from '../values/money.ts'
import { pain001Schema } from './pain001-schema.ts'
import { LONGEST_NAME, sepaText } from './sepa-charset.ts'
import type { XmlElement } from './xml-reader.ts'
import { schemaViolation } from './xml-schema.ts'
import { element, writeXml } from './xml-writer.ts'

const NAMESPACE = 'urn:iso:std:iso:20022:tech:xsd:pain.001.001.09'

/** The holder and account that pay. */
export interface Debtor {
  readonly name: string
  readonly iban: string
  readonly bic: string | null
}

/** Writes an order as a pain.001. An order that breaks the schema is a defect of ours, so it throws. */
export function pain001(order: Order, debtor: Debtor): string {
  const document = documentOf(order, debtor)
  const problem = schemaViolation(document, pain001Schema)
  if (problem) throw new Error(`${order.messageId} cannot be ordered: ${problem}`)
  return writeXml(document, NAMESPACE)
}

/** Whether the schema allows this order. Asked for each payment before it joins a file: one bad payment stops the file. */
export const canBeOrdered = (order: Order, debtor: Debtor): boolean =>
  schemaViolation(documentOf(order, debtor), pain001Schema) === undefined

function documentOf(order: Order, debtor: Debtor): XmlElement {
  const name = sepaText(debtor.name, LONGEST_NAME)
  const parts = [headerOf(order, name), partOf(order, { ...debtor, name })]
  return element('Document', [element('CstmrCdtTrfInitn', parts)])
}

const totalsOf = ({ payments }: Order): XmlElement[] => [
  element('NbOfTxs', String(payments.length)),
  element('CtrlSum', decimal(payments.reduce((sum, { amountEuros }) => sum + amountEuros, 0n))),
]

const headerOf = (order: Order, name: string): XmlElement =>
  element('GrpHdr', [
    element('MsgId', order.messageId),
    element('CreDtTm', order.madeAt.toISOString()),
    ...totalsOf(order),
    element('InitgPty', [element('Nm', name)]),
  ])

/** `BtchBookg` is false, so that the bank's statement has an entry for each payment under its own reference. */
const partOf = (order: Order, { name, iban, bic }: Debtor): XmlElement =>
  element('PmtInf', [
    element('PmtInfId', order.messageId),
    element('PmtMtd', 'TRF'),
    element('BtchBookg', 'false'),
    ...totalsOf(order),
    element('PmtTpInf', [
      element('SvcLvl', [element('Cd', 'SEPA')]),
      order.scheme === 'sct_inst' ? element('LclInstrm', [element('Cd', 'INST')]) : undefined,
    ]),
    element('ReqdExctnDt', [element('Dt', order.executeOn)]),
    element('Dbtr', [element('Nm', name)]),
    accountOf('DbtrAcct', iban),
    element('DbtrAgt', [
      element('FinInstnId', [bic ? element('BICFI', bic) : element('Othr', [element('Id', 'NOTPROVIDED')])]),
    ]),
    element('ChrgBr', 'SLEV'),
    ...order.payments.map(paymentOf),
  ])

const accountOf = (name: string, iban: string): XmlElement =>
  element(name, [element('Id', [element('IBAN', iban)])])

const paymentOf = ({ endToEndId, amountEuros, payee, reference }: Ordered): XmlElement =>
  element('CdtTrfTxInf', [
    element('PmtId', [element('EndToEndId', endToEndId)]),
    element('Amt', [element('InstdAmt', decimal(amountEuros), { Ccy: 'EUR' })]),
    payee.bic ? element('CdtrAgt', [element('FinInstnId', [element('BICFI', payee.bic)])]) : undefined,
    element('Cdtr', [element('Nm', payee.name)]),
    accountOf('CdtrAcct', payee.iban),
    reference ? element('RmtInf', [element('Ustrd', reference)]) : undefined,
  ])
