import type { StripeAnswer, StripeObject, StripeParams } from './stripe-exchange.ts'

type Params = StripeParams

interface Shown {
  readonly first_name: string
  readonly last_name: string
  readonly dob: { readonly day: number; readonly month: number; readonly year: number }
}

const found = (body: StripeObject | undefined): StripeAnswer =>
  body
    ? { status: 200, body }
    : { status: 404, body: { error: { type: 'invalid_request_error', code: 'resource_missing' } } }

const wrongState: StripeAnswer = {
  status: 400,
  body: { error: { type: 'invalid_request_error', message: 'The session is in another state.' } },
}

/** Verification sessions of Stripe Identity. */
export function identityRoutes() {
  const sessions = new Map<string, StripeObject>()
  const change = (id: string, members: StripeObject): StripeAnswer => {
    sessions.set(id, { ...sessions.get(id), ...members })
    return shown(id)
  }
  /** A new address at each call; what was verified only if it is asked for. */
  const shown = (id: string, isExpanded = false): StripeAnswer => {
    const session = sessions.get(id)
    if (!session) return found(undefined)
    const { verified_outputs, ...rest } = session
    const url = session.status === 'requires_input' ? `https://verify.stripe.com/start/${id}` : null
    return found({ ...rest, url, ...(isExpanded ? { verified_outputs } : {}) })
  }

  function create({ type, client_reference_id, options, return_url }: Params): StripeAnswer {
    if (type !== 'document') return wrongState
    const id = `vs_${sessions.size + 1}`
    sessions.set(id, {
      ...{ id, object: 'identity.verification_session', type, client_reference_id, options, return_url },
      ...{ status: 'requires_input', last_error: null, redaction: null, verified_outputs: null },
    })
    return shown(id)
  }

  const list = ({ client_reference_id: wanted }: Params): StripeAnswer => {
    const data = [...sessions.values()].filter(one => one.client_reference_id === wanted).reverse()
    return found({ object: 'list', has_more: false, data: data.map(({ id }) => shown(String(id)).body) })
  }

  const routes: [RegExp, (params: Params, id: string) => StripeAnswer | undefined][] = [
    [/^POST identity\/verification_sessions$/, create],
    [/^GET identity\/verification_sessions$/, list],
    [/^GET identity\/verification_sessions\/(\w+)$/, ({ expand }, id) => shown(id, expand !== undefined)],
    [
      /^POST identity\/verification_sessions\/(\w+)\/cancel$/,
      (_, id) =>
        sessions.get(id)?.status === 'requires_input' ? change(id, { status: 'canceled' }) : wrongState,
    ],
    [
      /^POST identity\/verification_sessions\/(\w+)\/redact$/,
      (_, id) => change(id, { redaction: { status: 'processing' }, verified_outputs: null }),
    ],
  ]
  return {
    routes,
    sessions,
    verify: (id: string, verified_outputs: Shown) =>
      void change(id, { status: 'verified', verified_outputs }),
    fail: (id: string, code: string) => void change(id, { last_error: { code, reason: 'A reason.' } }),
  }
}
