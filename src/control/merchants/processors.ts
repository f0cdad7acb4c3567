/** What those who take cards for others write before the name of the merchant. */
const processors: readonly (readonly [prefix: RegExp, name: string])[] = [
  [/^(?:SQ|GOSQ\.COM|SQUARE) ?\*/i, 'Square'],
  [/^(?:TST|TOAST)\* ?/i, 'Toast'],
  [/^(?:PAYPAL|PP) ?\*/i, 'PayPal'],
  [/^(?:SUMUP|SMP|SUM UP) ?\*/i, 'SumUp'],
  [/^(?:IZ|IZETTLE|ZETTLE)_? ?\*/i, 'Zettle'],
  [/^(?:SP|SHOPIFY) ?\*/i, 'Shopify'],
  [/^(?:STRIPE|ST) ?\*/i, 'Stripe'],
  [/^KLARNA ?\*/i, 'Klarna'],
  [/^MOLLIE ?\*/i, 'Mollie'],
  [/^ADYEN ?\*/i, 'Adyen'],
  [/^(?:PADDLE\.NET|PADDLE) ?\*/i, 'Paddle'],
  [/^(?:FS|FASTSPRING|FSPRG\.COM) ?\*/i, 'FastSpring'],
  [/^(?:2CO\.COM|2CHECKOUT) ?\*/i, '2Checkout'],
  [/^(?:DRI|DR) ?\*/i, 'Digital River'],
  [/^BLS ?\*/i, 'BlueSnap'],
  [/^(?:LEMSQZY|LS|LEMONSQUEEZY) ?\*/i, 'Lemon Squeezy'],
  [/^(?:CKO|CHECKOUT) ?\*/i, 'Checkout.com'],
  [/^WL ?\*/i, 'Worldline'],
  [/^CCV ?\*/i, 'CCV'],
  [/^(?:BT|BRAINTREE) ?\*/i, 'Braintree'],
  [/^(?:WPY|WEPAY) ?\*/i, 'WePay'],
  [/^PAYU ?\*/i, 'PayU'],
  [/^VIVA ?\*/i, 'Viva'],
  [/^(?:NYA|NAYAX) ?\*/i, 'Nayax'],
  [/^GPAY ?\*/i, 'Google Pay'],
  [/^APPLE PAY ?\*/i, 'Apple Pay'],
  [/^REVOLUT ?\*/i, 'Revolut'],
  [/^CLOVER ?\*/i, 'Clover'],
  [/^GUMROAD(?:\.COM)? ?\*/i, 'Gumroad'],
]

export interface Unwrapped {
  readonly text: string
  /** The one next to the merchant last. */
  readonly processors: readonly string[]
}

/** The text without those through whom the payment went. */
export function unwrap(text: string): Unwrapped {
  const whole = text.trim().replace(/\s+\*/g, ' *')
  const found = processors.find(([prefix]) => prefix.test(whole))
  if (!found) return { text: whole, processors: [] }
  const inner = unwrap(whole.replace(found[0], ''))
  return { text: inner.text, processors: [found[1], ...inner.processors] }
}
