/** What a device has signed beside its own data: which page asked for what. Members that we do not know are left alone. */
export interface ClientData {
  readonly type: string
  readonly challenge: string
  readonly origin: string
  readonly crossOrigin: boolean
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Reads client data; undefined where it is no JSON object in UTF-8 with the members that there must be. */
export function clientDataOf(encoded: string): ClientData | undefined {
  try {
    const value: unknown = JSON.parse(utf8.decode(Buffer.from(encoded, 'base64url')))
    if (typeof value !== 'object' || value === null) return undefined
    const { type, challenge, origin, crossOrigin = false } = value as Partial<ClientData>
    const isText = [type, challenge, origin].every(member => typeof member === 'string')
    if (!isText || typeof crossOrigin !== 'boolean') return undefined
    return { type, challenge, origin, crossOrigin } as ClientData
  } catch {
    return undefined
  }
}
