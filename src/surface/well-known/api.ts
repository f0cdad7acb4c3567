import { z } from 'zod'
import { fileSchema } from '../../kernel/contract/file.ts'
import { get, post } from '../../kernel/contract/operation.ts'
import { LiveRails } from '../health/index.ts'

/** The profile by which RFC 9727 identifies an API catalogue. */
export const LINKSET_MEDIA_TYPE =
  'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'

const ServiceRecord = z
  .object({
    name: z.string(),
    version: z.string(),
    url: z.string(),
    documentation: z.string(),
    openapi: z.string(),
    currencies: z.array(z.string()),
    environments: z.array(z.enum(['sandbox', 'live'])),
    payments: z
      .array(z.object({ method: z.string(), description: z.string() }))
      .meta({ description: 'How agents pay, and how owners are paid.' }),
    machinePayments: z
      .object({ scheme: z.string(), methods: z.array(z.string()), intents: z.array(z.string()) })
      .meta({ description: 'The Machine Payments Protocol that payees of this service speak.' }),
    live: LiveRails,
    dataCountries: z
      .object({
        database: z.string().nullable(),
        temporal: z.string().nullable(),
        files: z.string().nullable(),
        mail: z.string().nullable(),
      })
      .meta({
        description:
          'The EU country in which each store keeps its data, and of the mail server. `null`: not stated, which only an installation without real money, or without a mail server, may leave open.',
      }),
    authorization: z.string().meta({ description: 'The metadata of RFC 8414.' }),
    publicKeys: z.string().meta({ description: 'The public keys for signatures of the service.' }),
    verify: z.string(),
    status: z.string(),
    securityContact: z.string().nullable(),
  })
  .meta({ id: 'ServiceMetadata' })

const open = { callers: ['public'], http: { cachedFor: 3_600 } } as const

const validators =
  'The answer may be cached for an hour. `ETag` sent back in `If-None-Match` is answered with a 304.'

export const wellKnownApi = {
  service: get('/.well-known/agent-payments', {
    ...open,
    summary: 'Discover this service',
    description: `For programs that only know the host. ${validators}`,
    returns: [200, ServiceRecord],
  }),
  catalog: get('/.well-known/api-catalog', {
    ...open,
    summary: 'Get the API catalogue',
    description: `The catalogue of RFC 9727, a set of links (RFC 9264); HEAD answers with its \`Link\`. ${validators}`,
    http: { ...open.http, headers: { 200: { Link: 'This catalogue, as RFC 9727 requires for HEAD.' } } },
    returns: [200, fileSchema(LINKSET_MEDIA_TYPE)],
  }),
  securityTxt: get('/.well-known/security.txt', {
    ...open,
    summary: 'Get the security contact',
    description: `The security.txt of RFC 9116, if \`SECURITY_CONTACT\` is set. ${validators}`,
    returns: [200, fileSchema('text/plain; charset=utf-8')],
    fails: {
      no_security_contact: [404, 'No security contact: SECURITY_CONTACT is not set.'],
    },
  }),
  verify: post('/.well-known/verify', {
    callers: ['public'],
    run: 'read',
    limits: { bodyKiB: 256 },
    summary: 'Verify a signed statement',
    description:
      'A mandate, the proof of an approval, the evidence of a payment, each as a compact JWS; a receipt as the header `Payment-Receipt` has it; or the signed note of a checkpoint of an audit trail. The answer says whether it is valid, and the reason if not; it reveals nothing else.\n\nA mandate is valid while it is in force. Rotated keys still count. With a copy of `/.well-known/jwks.json` the signature can be checked offline, and the passkey of an approval with it.',
    body: z.strictObject({
      statement: z.string().min(1).max(200_000).meta({
        description:
          'The compact JWS, the content of the header `Payment-Receipt`, or the note of a checkpoint.',
      }),
    }),
    example: { statement: 'eyJhbGciOiJFZERTQSIsInR5cCI6Im1hbmRhdGUifQ.e30.AA' },
    returns: [
      200,
      z
        .object({
          valid: z.boolean(),
          kind: z.enum(['mandate', 'approval', 'receipt', 'evidence', 'checkpoint']).nullable().meta({
            description: 'The claimed type. Null if it is not a statement.',
          }),
          reason: z.string().nullable().meta({ description: 'The reason if it is invalid.' }),
        })
        .meta({ id: 'VerifiedStatement' }),
    ],
  }),
}
