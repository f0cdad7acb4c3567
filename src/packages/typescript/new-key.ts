interface Random {
  getRandomValues(bytes: Uint8Array): Uint8Array
}

let random: Random | undefined = (globalThis as { crypto?: Random }).crypto

/** A new idempotency key. Node 18 has what makes it in a module; no browser is asked for that. */
export async function newKey(): Promise<string> {
  if (!random) {
    const name = 'node:crypto'
    random = ((await import(name)) as { readonly webcrypto: Random }).webcrypto
  }
  const bytes = random.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
}
