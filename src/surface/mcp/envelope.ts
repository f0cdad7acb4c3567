/** Since this version a client says with each message who it is and what it can do. */
export const NEWEST = '2026-07-28'

const PREFIX = 'io.modelcontextprotocol/'
const NAMES = ['clientCapabilities', 'clientInfo', 'protocolVersion'].map(name => PREFIX + name)

/**
 * Whether a client says no more than who it is, and that it can do nothing that an answer could ask of it. One that can open
 * an address for its person, wants to hear of the progress, or says what is not expected gets the protocol's own server.
 */
export function isPlainEnvelope(envelope: unknown): boolean {
  if (!isRecord(envelope) || Object.keys(envelope).sort().join() !== NAMES.join()) return false
  const [capabilities, client, version] = NAMES.map(name => envelope[name])
  const isUnable = isRecord(capabilities) && Object.keys(capabilities).length === 0
  return version === NEWEST && isPlainClient(client) && isUnable
}

const CLIENT = new Set(['name version', 'name title version'])

const isPlainClient = (client: unknown): boolean =>
  isRecord(client) &&
  CLIENT.has(Object.keys(client).sort().join(' ')) &&
  Object.values(client).every(value => typeof value === 'string')

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
