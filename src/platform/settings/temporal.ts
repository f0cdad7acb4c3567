import { z } from 'zod'
import { about, hostAndPort, matching, webAddress, yesOrNo } from './setting.ts'

export const temporalSettings = {
  temporalAddress: about(hostAndPort.optional(), {
    meaning: 'Address of the Temporal server.',
    allowed: 'host:port',
    otherwise: 'an embedded server',
  }),
  temporalNamespace: about(matching(/^[\w.-]{1,255}$/).default('default'), {
    meaning: 'Temporal namespace of the workflows.',
    allowed: 'letters, digits, dots, hyphens',
  }),
  temporalTaskQueue: about(matching(/^[\w.-]{1,255}$/).default('agentpay'), {
    meaning:
      'Temporal task queue of the workflows: one for each database that shares the namespace. Running workflows stay on the queue on which they started.',
    allowed: 'up to 255 letters, digits, dots, hyphens',
  }),
  temporalApiKey: about(z.string().min(8).optional(), {
    meaning: 'API key of the Temporal server, for example of Temporal Cloud.',
    secret: true,
    allowed: 'at least 8 characters',
    otherwise: 'none',
  }),
  temporalTls: about(yesOrNo.optional(), {
    meaning: 'Whether the connection to `TEMPORAL_ADDRESS` uses TLS.',
    allowed: 'true or false',
    otherwise: 'true with an API key or a certificate, otherwise false',
  }),
  temporalTlsCert: about(z.string().optional(), {
    meaning: 'Client certificate for the Temporal server. Requires `TEMPORAL_TLS_KEY`.',
    allowed: 'a PEM file',
    otherwise: 'none',
  }),
  temporalTlsKey: about(z.string().optional(), {
    meaning: 'Private key of `TEMPORAL_TLS_CERT`.',
    allowed: 'a PEM file',
    otherwise: 'none',
  }),
  temporalTlsCa: about(z.string().optional(), {
    meaning: 'CA certificate that verifies the Temporal server.',
    allowed: 'a PEM file',
    otherwise: 'the CAs of the system',
  }),
  temporalUiUrl: about(webAddress.optional(), {
    meaning:
      'Address of the Temporal Web UI for browsers. The console then links records to their runs. `npm start` knows the address of its own server.',
    allowed: 'an http or https URL',
    otherwise: 'none',
  }),
  mppWorkflows: about(z.enum(['all', 'open']).default('all'), {
    meaning:
      'Which machine payments get their own workflow: `all`, or only those with an `open` outcome, for hundreds of payments per second.',
    allowed: 'all, open',
  }),
  operatorSignals: about(yesOrNo.default(false), {
    meaning:
      'Whether signals from the Temporal Web UI may decide about live money and real companies. In test mode they may decide about everything else.',
    allowed: 'true or false',
  }),
}
