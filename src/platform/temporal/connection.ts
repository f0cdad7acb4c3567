import { readFileSync } from 'node:fs'
import { InvalidSettingError, type Settings } from '../settings/settings.ts'

export interface TemporalConnection {
  readonly address: string
  readonly tls: boolean | Certificates
  readonly apiKey?: string
}

interface Certificates {
  readonly serverRootCACertificate?: Uint8Array
  readonly clientCertPair?: { readonly crt: Uint8Array; readonly key: Uint8Array }
}

/** The embedded server is local and has neither TLS nor credentials. */
export function temporalConnection(settings: Settings, address: string): TemporalConnection {
  const { temporalAddress, temporalApiKey: apiKey, temporalTls } = settings
  if (address !== temporalAddress) return { address, tls: false }
  const certificates = certificatesOf(settings)
  const wanted = temporalTls ?? Boolean(apiKey || certificates)
  return { address, tls: wanted && (certificates ?? true), ...(apiKey ? { apiKey } : {}) }
}

function certificatesOf({
  temporalTlsCert: cert,
  temporalTlsKey: key,
  temporalTlsCa: ca,
}: Settings): Certificates | undefined {
  if (!cert !== !key) throw new InvalidSettingError('TEMPORAL_TLS_CERT and TEMPORAL_TLS_KEY go together.')
  if (!cert && !ca) return undefined
  return {
    ...(ca ? { serverRootCACertificate: pem('TEMPORAL_TLS_CA', ca) } : {}),
    ...(cert && key
      ? { clientCertPair: { crt: pem('TEMPORAL_TLS_CERT', cert), key: pem('TEMPORAL_TLS_KEY', key) } }
      : {}),
  }
}

function pem(setting: string, file: string): Uint8Array {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new InvalidSettingError(`${setting} cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}
