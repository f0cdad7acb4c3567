/** `URL.parse`, which older versions of Node do not have. */
export function parseUrl(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}
