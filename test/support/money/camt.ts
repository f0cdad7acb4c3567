/** A booked entry; the defaults are those of a usual credit. */
export interface Booking {
  readonly amount?: string
  readonly currency?: string
  readonly direction?: string
  readonly status?: string
  readonly reference?: string | null
  readonly more?: string
  readonly details?: readonly string[]
}

export const ACCOUNT = 'DE89370400440532013000'

export const payment = ({
  text,
  iban,
  amount,
  more = '',
}: {
  text?: string
  iban?: string
  amount?: string
  more?: string
} = {}): string => `
  <TxDtls><Refs><EndToEndId>INV-17</EndToEndId></Refs>
    ${amount ? `<Amt Ccy="EUR">${amount}</Amt>` : ''}
    <RltdPties><Dbtr><Nm>Adler GmbH</Nm></Dbtr><DbtrAcct><Id><IBAN>NL91ABNA0417164300</IBAN></Id></DbtrAcct>
      ${iban ? `<CdtrAcct><Id><IBAN>${iban}</IBAN></Id></CdtrAcct>` : ''}</RltdPties>
    <RmtInf>${text ? `<Ustrd>${text}</Ustrd>` : ''}</RmtInf>${more}</TxDtls>`

const entry = ({
  amount = '25.00',
  currency = 'EUR',
  direction = 'CRDT',
  status = '<Cd>BOOK</Cd>',
  reference = null,
  more = '',
  details = [payment()],
}: Booking): string => `
  <Ntry><NtryRef>1</NtryRef><Amt Ccy="${currency}">${amount}</Amt><CdtDbtInd>${direction}</CdtDbtInd>
    <Sts>${status}</Sts><ValDt><Dt>2026-11-19</Dt></ValDt>
    ${reference ? `<AcctSvcrRef>${reference}</AcctSvcrRef>` : ''}${more}
    <NtryDtls>${details.join('')}</NtryDtls></Ntry>`

const roots = {
  'camt.053': ['BkToCstmrStmt', 'Stmt'],
  'camt.054': ['BkToCstmrDbtCdtNtfctn', 'Ntfctn'],
} as const

interface Message {
  readonly kind?: keyof typeof roots
  readonly version?: string
  readonly account?: string
}

export function camt(
  bookings: readonly Booking[],
  { kind = 'camt.053', version = '08', account = ACCOUNT }: Message = {},
): string {
  const [root, statement] = roots[kind]
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:${kind}.001.${version}"><${root}>
  <GrpHdr><MsgId>MSG-1</MsgId></GrpHdr>
  <${statement}><Id>1</Id><Acct><Id><IBAN>${account}</IBAN></Id></Acct>${bookings.map(entry).join('')}</${statement}>
</${root}></Document>`
}

let bookings = 0

/** The booking of a payment of ours, by default its debit. */
export const bookingOf = (
  endToEndId: string,
  amount: string,
  more: Partial<Booking> = {},
  inTx = '',
): Booking => ({
  amount,
  direction: 'DBIT',
  reference: `BOOKED-${++bookings}`,
  ...more,
  details: [`<TxDtls><Refs><EndToEndId>${endToEndId}</EndToEndId></Refs>${inTx}</TxDtls>`],
})
export const returnedBooking = (endToEndId: string, amount: string, code = 'AC04') =>
  bookingOf(endToEndId, amount, { direction: 'CRDT' }, `<RtrInf><Rsn><Cd>${code}</Cd></Rsn></RtrInf>`)
