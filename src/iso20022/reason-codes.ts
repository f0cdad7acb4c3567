/**
 * Reasons for a rejection, a return, a recall or its refusal. The codes are those of the ISO 20022 external
 * code sets (ExternalStatusReason1Code, ExternalReturnReason1Code, ExternalCancellationReason1Code,
 * ExternalPaymentCancellationRejection1Code) that the EPC's rulebooks of SCT and SCT Inst use.
 */
const reasonMessages: Readonly<Record<string, string>> = {
  AB05: 'The payee’s bank did not answer in time.',
  AB06: 'A bank on the way did not answer in time.',
  AB07: 'A bank on the way could not be reached.',
  AB08: 'The payee’s bank could not be reached.',
  AB09: 'The payee’s bank could not process it.',
  AB10: 'A bank on the way could not process it.',
  AC01: 'The account number of the payee is wrong.',
  AC02: 'The account number of the payer is wrong or missing.',
  AC03: 'The account number of the payee is not valid.',
  AC04: 'The payee’s account is closed.',
  AC06: 'The payee’s account is blocked.',
  AC07: 'The payee’s account is closed.',
  AC13: 'The payer’s account is not of the right kind.',
  AC14: 'The payee’s account is not of the right kind.',
  AG01: 'Payments to this kind of account are not allowed.',
  AG02: 'The payment was of a kind that the bank does not know.',
  AG03: 'Payments of this kind are not possible with this account.',
  AG09: 'The payment was not received.',
  AG10: 'The bank has been suspended from the scheme.',
  AG11: 'The payee’s bank has been suspended from the scheme.',
  AGNT: 'A bank on the way is wrong.',
  AM02: 'The amount exceeds the limit of the payee’s bank.',
  AM04: 'There was not enough money at the payer’s bank.',
  AM05: 'The same payment was made before.',
  AM07: 'The amount was blocked by an authority.',
  AM09: 'The amount is not the one that was agreed.',
  AM10: 'The amounts do not sum to the total of the file.',
  AM14: 'The amount exceeds the limit agreed with the payer’s bank.',
  AM23: 'The amount exceeds the limit for instant settlement.',
  ARDT: 'The money has already been returned.',
  BE01: 'The name does not fit the account.',
  BE04: 'The payee’s address is missing or wrong.',
  BE05: 'The ordering party is unknown.',
  BE06: 'The payee’s bank does not know the payee.',
  CNOR: 'The payee’s bank is not registered under its BIC.',
  CURR: 'The currency is wrong.',
  CUST: 'The payer asked to cancel it.',
  DNOR: 'The payer’s bank is not registered under its BIC.',
  DT01: 'The execution date is wrong.',
  DU01: 'A file with the same id was sent before.',
  DU04: 'A payment with the same endToEndId was sent before.',
  DUPL: 'It was paid twice.',
  ED05: 'The settlement failed.',
  ERIN: 'The payee’s bank does not support extended remittance information.',
  FF01: 'The format of the message is wrong.',
  FOCR: 'It was returned at the payer’s request.',
  FR01: 'It was fraudulent.',
  FRAD: 'It was fraudulent.',
  LEGL: 'The law forbids its return.',
  MD07: 'The payee has died.',
  MS02: 'The payee does not want it.',
  MS03: 'The bank gives no reason.',
  NARR: 'The bank’s file gives the reason in words.',
  NOAS: 'The payee has not answered.',
  NOOR: 'The original payment was never received.',
  RC01: 'The BIC of the payee’s bank is wrong.',
  RC03: 'The BIC of the payer’s bank is wrong or missing.',
  RC04: 'The identifier of the payee’s bank is wrong or missing.',
  RC07: 'The BIC of the payee’s bank is missing or not valid.',
  RR01: 'Required data about the payer’s account is missing.',
  RR02: 'The payer’s name or address is incomplete.',
  RR03: 'The payee’s name or address is incomplete.',
  RR04: 'The rules of a bank’s country forbid it.',
  TECH: 'It was made by a technical fault.',
  TM01: 'It arrived after the cut-off.',
  UPAY: 'The payment was not due.',
}

/** Codes with another meaning when a bank refuses a recall. */
const recallRefusals: Readonly<Record<string, string>> = {
  AGNT: 'A bank on the way refuses it.',
  AM04: 'There is not enough money in the payee’s account.',
  CUST: 'The payee does not agree to the return.',
}

const ownCodes: Readonly<Record<string, string>> = {
  not_by_files:
    'This bank accepts no recalls by file, and the payment has been ordered. Contact the bank with its endToEndId.',
}

export const REASON_CODE_PATTERN = /^[A-Z0-9]{4}$/

export interface IsoReason {
  code: string
  message: string
}

/** Unknown codes get a general sentence; no code counts as MS03 (not specified). */
export function isoReasonOf(code: string | null): IsoReason {
  const reason = code ?? 'MS03'
  return {
    code: reason,
    message: reasonMessages[reason] ?? ownCodes[reason] ?? `The bank gives the reason ${reason}.`,
  }
}

export const recallRefusalReason = (code: string | null): IsoReason =>
  code && recallRefusals[code] ? { code, message: recallRefusals[code] } : isoReasonOf(code)

export const reasonCodes = Object.keys(reasonMessages)

/** A bank may send any other code. */
export const isKnownReasonCode = (code: string): boolean => Object.hasOwn(reasonMessages, code)
