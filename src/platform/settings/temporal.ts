import { z } from 'zod'
import { sha256 } from '../../values/digest.ts'
import {
  booleanSetting,
  documentSetting,
  hostAndPortSetting,
  patternSetting,
  webAddressSetting,
} from './setting.ts'

/**
 * A name of a task queue will do. Temporal wants no dots in that of a deployment, and lists it together with the build. The digest
 * keeps `a.b` apart from `a-b`.
 */
function deploymentName(name: string): string {
  const permitted = name.replace(/^__|\./g, '-').slice(0, 200)
  if (permitted === name) return name
  return `${permitted.slice(0, 191)}-${sha256(name).toString('hex').slice(0, 8)}`
}

export const temporalSettings = {
  temporalAddress: documentSetting(hostAndPortSetting.optional(), {
    meaning: 'Address of the Temporal server.',
    allowed: 'host:port',
    otherwise: 'an embedded server',
  }),
  temporalNamespace: documentSetting(patternSetting(/^[\w.-]{1,255}$/).default('default'), {
    meaning: 'Temporal namespace of the workflows.',
    allowed: 'letters, digits, dots, hyphens',
  }),
  temporalTaskQueue: documentSetting(patternSetting(/^[\w.-]{1,255}$/).default('agentpay'), {
    meaning:
      'Temporal task queue of the workflows, one for each database in the namespace. Running workflows stay on their queue.',
    allowed: 'up to 255 letters, digits, dots, hyphens',
  }),
  temporalDeployment: documentSetting(
    patternSetting(/^[\w.-]{1,255}$/)
      .transform(deploymentName)
      .optional(),
    {
      meaning:
        'Name of the worker deployment in Temporal, one for each task queue. With it, workers of several builds may run at once. In Temporal, a name with dots or above 200 characters is changed and ends with eight digits of its digest.',
      allowed: 'up to 255 letters, digits, dots, hyphens',
      otherwise: 'workers have no versions',
    },
  ),
  temporalApiKey: documentSetting(z.string().min(8).optional(), {
    meaning: 'API key of the Temporal server.',
    secret: true,
    allowed: 'at least 8 characters',
    otherwise: 'none',
  }),
  temporalTls: documentSetting(booleanSetting.optional(), {
    meaning: 'Whether the connection to `TEMPORAL_ADDRESS` uses TLS.',
    allowed: 'true or false',
    otherwise: 'true with an API key or a certificate, otherwise false',
  }),
  temporalTlsCert: documentSetting(z.string().optional(), {
    meaning: 'Client certificate for the Temporal server. Requires `TEMPORAL_TLS_KEY`.',
    allowed: 'a PEM file',
    otherwise: 'none',
  }),
  temporalTlsKey: documentSetting(z.string().optional(), {
    meaning: 'Private key of `TEMPORAL_TLS_CERT`.',
    allowed: 'a PEM file',
    otherwise: 'none',
  }),
  temporalTlsCa: documentSetting(z.string().optional(), {
    meaning: 'CA certificate that verifies the Temporal server.',
    allowed: 'a PEM file',
    otherwise: 'the CAs of the system',
  }),
  temporalUiUrl: documentSetting(webAddressSetting.optional(), {
    meaning: 'Address of the Temporal Web UI for browsers, for links of the console. `npm start` sets it.',
    allowed: 'an http or https URL',
    otherwise: 'none',
  }),
  mppWorkflows: documentSetting(
    z
      .enum(['run', 'request'], { error: 'run or request: all is called run now, and open request' })
      .default('run'),
    {
      meaning:
        'What carries out machine payments: its own workflow (`run`), or the `request`, for hundreds of payments per second. An unknown outcome has a workflow in any case.',
      allowed: 'run, request',
    },
  ),
  operatorSignals: documentSetting(booleanSetting.default(false), {
    meaning:
      'Whether updates and signals from the Temporal Web UI may decide about live money and real companies, not only in test mode.',
    allowed: 'true or false',
  }),
}
