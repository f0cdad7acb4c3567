import { area } from '../../kernel/contract/area.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { withHeaders } from '../../kernel/contract/problem.ts'
import { after, clock, days } from '../../values/clock.ts'
import { VERSION } from '../health/index.ts'
import { LINKSET, wellKnownApi } from './api.ts'
import { verify } from './verify.ts'

/** How far ahead the end of `security.txt` is: RFC 9116 asks for less than a year. */
const SECURITY_TXT_DAYS = 180

/** The end moves on once a day, so that the file is the same in between. */
function expiryOf(now: Date): string {
  const end = after(now, days(SECURITY_TXT_DAYS))
  return `${end.toISOString().slice(0, 10)}T00:00:00.000Z`
}

const securityTxt = (contact: string, url: string): string =>
  [
    `Contact: ${contact}`,
    `Expires: ${expiryOf(clock.real())}`,
    'Preferred-Languages: en, de',
    `Canonical: ${url}/.well-known/security.txt`,
    '',
  ].join('\n')

const catalogOf = (url: string) => ({
  linkset: [
    {
      anchor: `${url}/.well-known/api-catalog`,
      item: [{ href: `${url}/` }],
    },
    {
      anchor: `${url}/`,
      'service-desc': [{ href: `${url}/openapi.json`, type: 'application/json' }],
      'service-doc': [{ href: `${url}/docs`, type: 'text/html' }],
      'service-meta': [{ href: `${url}/.well-known/agent-payments`, type: 'application/json' }],
      status: [{ href: `${url}/health`, type: 'application/json' }],
    },
  ],
})

const serviceOf = (url: string, securityContact: string | null) => ({
  name: 'Agent Payments',
  version: VERSION,
  url,
  documentation: `${url}/docs`,
  openapi: `${url}/openapi.json`,
  currencies: ['EUR'],
  environments: ['sandbox' as const, 'live' as const],
  payments: [
    { method: 'wallet', description: 'Between wallets of this service, completed at once.' },
    { method: 'sepa', description: 'Credit transfers within the SEPA area.' },
    { method: 'card', description: 'Cards of agents, within the limits of their owner.' },
    { method: 'mpp', description: 'Payments for an HTTP 402, as the payer and as the payee.' },
  ],
  machinePayments: { scheme: 'Payment', methods: ['card'], intents: ['charge'] },
  authorization: `${url}/.well-known/oauth-authorization-server`,
  publicKeys: `${url}/.well-known/jwks.json`,
  verify: `${url}/.well-known/verify`,
  status: `${url}/health`,
  securityContact,
})

const wellKnown = implement(wellKnownApi, {
  verify,

  service: (_, { ports }) => serviceOf(ports.publicUrl(), ports.securityContact),

  catalog(_, { ports }) {
    const url = ports.publicUrl()
    return withHeaders(
      { type: LINKSET, content: JSON.stringify(catalogOf(url)) },
      { Link: `<${url}/.well-known/api-catalog>; rel="api-catalog"; type="application/linkset+json"` },
    )
  },

  securityTxt(_, { ports, refuse }) {
    const contact = ports.securityContact
    if (!contact) return refuse('no_security_contact')
    return { type: 'text/plain; charset=utf-8', content: securityTxt(contact, ports.publicUrl()) }
  },
})

export const wellKnownArea = area(
  'Well-Known',
  'What programs find that know nothing but the host, and a check of what the service has signed.',
  wellKnown,
)
