/** ISO 11649: `RF`, two check digits, and up to 21 letters and digits that the creditor chooses. */
const SHAPE = /^RF\d{2}[0-9A-Z]{1,21}$/

/** The remainder of ISO 7064, as for an IBAN: letters count as 10 to 35. */
function mod97(text: string): number {
  const digits = text.replace(/[A-Z]/g, letter => String(letter.charCodeAt(0) - 55))
  return Number(BigInt(digits) % 97n)
}

export function makeCreditorReference(own: string): string {
  const check = 98 - mod97(`${own}RF00`)
  return `RF${String(check).padStart(2, '0')}${own}`
}

export const isCreditorReference = (text: string): boolean =>
  SHAPE.test(text) && mod97(text.slice(4) + text.slice(0, 4)) === 1
