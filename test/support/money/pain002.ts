let references = 0
interface Answer {
  readonly to: string
  readonly group?: string
  readonly payments?: readonly (readonly [endToEndId: string, status: string, code?: string])[]
}
/** A reason code and, after a bar, the additional information, in which a bank states the name it knows. */
export function reasonXml(code = '') {
  const [reason, ...lines] = code.split('|')
  const cd = reason && `<Rsn><Cd>${reason}</Cd></Rsn>`
  return code && `<StsRsnInf>${cd}${lines.map(line => `<AddtlInf>${line}</AddtlInf>`).join('')}</StsRsnInf>`
}
export const pain002 = ({
  to,
  group = '<GrpSts>PART</GrpSts>',
  payments = [],
}: Answer) => `<?xml version="1.0"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.10"><CstmrPmtStsRpt>
  <GrpHdr><MsgId>STS-${++references}</MsgId><CreDtTm>2026-11-20T10:00:00</CreDtTm></GrpHdr>
  <OrgnlGrpInfAndSts><OrgnlMsgId>${to}</OrgnlMsgId><OrgnlMsgNmId>pain.001.001.09</OrgnlMsgNmId>${group}</OrgnlGrpInfAndSts>
  <OrgnlPmtInfAndSts><OrgnlPmtInfId>${to}</OrgnlPmtInfId>${payments
    .map(
      ([endToEndId, status, code]) =>
        `<TxInfAndSts><OrgnlEndToEndId>${endToEndId}</OrgnlEndToEndId><TxSts>${status}</TxSts>${reasonXml(code)}</TxInfAndSts>`,
    )
    .join('')}</OrgnlPmtInfAndSts>
</CstmrPmtStsRpt></Document>`
