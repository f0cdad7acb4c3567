/** Prefixes that payment processors write before the name of the merchant. */
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

export interface StrippedDescriptor {
  readonly text: string
  /** From left to right: the last one is next to the merchant. */
  readonly processors: readonly string[]
}

/** Removes the prefixes of all processors through which the payment went. */
export function stripProcessors(text: string): StrippedDescriptor {
  const trimmed = text.trim().replace(/\s+\*/g, ' *')
  const processor = processors.find(([prefix]) => prefix.test(trimmed))
  if (!processor) return { text: trimmed, processors: [] }
  const [prefix, name] = processor
  const inner = stripProcessors(trimmed.replace(prefix, ''))
  return { text: inner.text, processors: [name, ...inner.processors] }
}
