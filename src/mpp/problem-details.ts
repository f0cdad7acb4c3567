const BASE = 'https://paymentauth.org/problems/'

const kinds = {
  'payment-required': ['Payment Required', 402],
  'malformed-credential': ['Malformed Credential', 402],
  'invalid-challenge': ['Invalid Challenge', 402],
  'payment-expired': ['Payment Expired', 402],
  'invalid-payload': ['Invalid Payload', 402],
  'verification-failed': ['Verification Failed', 402],
  'payment-insufficient': ['Payment Insufficient', 402],
  'method-unsupported': ['Method Unsupported', 400],
  'bad-request': ['Bad Request', 400],
  'internal-payment-error': ['Internal Payment Error', 500],
} as const satisfies Record<string, readonly [title: string, status: number]>

export type ProblemType = keyof typeof kinds

/** A body of type `application/problem+json` (RFC 9457). */
export interface ProblemDetails {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
}

export const problemTypeAndTitle = (type: ProblemType): readonly [type: string, title: string] => [
  `${BASE}${type}`,
  kinds[type][0],
]

export const buildProblemDetails = (type: ProblemType, detail: string): ProblemDetails => ({
  type: `${BASE}${type}`,
  title: kinds[type][0],
  status: kinds[type][1],
  detail,
})
