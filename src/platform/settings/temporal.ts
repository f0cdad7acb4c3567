import { z } from 'zod'
import { about, hostAndPort, matching, webAddress, yesOrNo } from './setting.ts'

export const temporalSettings = {
  temporalAddress: about(hostAndPort.optional(), {
    meaning: 'Temporal server to use.',
    allowed: 'host:port',
    otherwise: 'an embedded server',
  }),
  temporalNamespace: about(matching(/^[\w.-]{1,255}$/).default('default'), {
    meaning: 'Namespace of our workflows in Temporal.',
    allowed: 'letters, digits, dots, hyphens',
  }),
  temporalTaskQueue: about(matching(/^[\w.-]{1,255}$/).default('agentpay'), {
    meaning:
      'Task queue of our workflows: one for each database that shares the namespace. What runs already stays on the queue it began on.',
    allowed: 'up to 255 letters, digits, dots, hyphens',
  }),
  temporalApiKey: about(z.string().min(8).optional(), {
    meaning: 'API key for the Temporal server, as Temporal Cloud gives one.',
    secret: true,
    allowed: 'at least 8 characters',
    otherwise: 'none',
  }),
  temporalTls: about(yesOrNo.optional(), {
    meaning: 'Whether the connection to `TEMPORAL_ADDRESS` is encrypted.',
    allowed: 'true or false',
    otherwise: 'true with an API key or a certificate, else false',
  }),
  temporalTlsCert: about(z.string().optional(), {
    meaning: 'Certificate that we show to the Temporal server. Goes with `TEMPORAL_TLS_KEY`.',
    allowed: 'a PEM file',
    otherwise: 'none',
  }),
  temporalTlsKey: about(z.string().optional(), {
    meaning: 'Private key of `TEMPORAL_TLS_CERT`.',
    allowed: 'a PEM file',
    otherwise: 'none',
  }),
  temporalTlsCa: about(z.string().optional(), {
    meaning: 'Certificate of the authority that vouches for the Temporal server.',
    allowed: 'a PEM file',
    otherwise: 'those that the system trusts',
  }),
  temporalWebUi: about(webAddress.optional(), {
    meaning:
      'Where the Temporal Web UI is reached by browsers: records in the console then lead to their runs. `npm start` knows that of its own server.',
    allowed: 'an http or https URL',
    otherwise: 'none',
  }),
  mppRuns: about(z.enum(['all', 'open']).default('all'), {
    meaning:
      'Which machine payments have a run of their own: all of them, or only those whose outcome is open, for whoever makes hundreds a second.',
    allowed: 'all, open',
  }),
  operatorSignals: about(yesOrNo.default(false), {
    meaning:
      'Whether signals from the Temporal Web UI decide about live money, and about real companies. In test mode they decide about everything else.',
    allowed: 'true or false',
  }),
}
