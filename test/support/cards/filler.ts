export const FORM = `<!doctype html><title>Checkout</title>
<form method="post">
  <input name="number" autocomplete="cc-number">
  <input name="end" autocomplete="cc-exp">
  <input name="cvc" autocomplete="cc-csc">
  <button>Pay</button>
</form>`

/**
 * A complete filler, as a browser extension adds it to a page. Web Crypto never exports its private key. It
 * opens the compact JWE (RSA-OAEP-256, A256GCM) without a library.
 */
export const FILLER = `
globalThis.filler = (() => {
  const bytes = text => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), one => one.charCodeAt(0))
  const json = data => JSON.parse(new TextDecoder().decode(data))
  const algorithm = { name: 'RSA-OAEP', hash: 'SHA-256', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) }
  const keys = crypto.subtle.generateKey(algorithm, false, ['encrypt', 'decrypt'])

  async function open(jwe) {
    const [header, key, iv, data, tag] = jwe.split('.')
    const { privateKey } = await keys
    const secret = await crypto.subtle.decrypt('RSA-OAEP', privateKey, bytes(key))
    const contentKey = await crypto.subtle.importKey('raw', secret, 'AES-GCM', false, ['decrypt'])
    const sealed = new Uint8Array([...bytes(data), ...bytes(tag)])
    const how = { name: 'AES-GCM', iv: bytes(iv), additionalData: new TextEncoder().encode(header) }
    return json(await crypto.subtle.decrypt(how, contentKey, sealed))
  }

  return {
    publicKey: async () => crypto.subtle.exportKey('jwk', (await keys).publicKey),
    async fill(jwe, intentId) {
      const header = json(bytes(jwe.split('.')[0]))
      if (header.intentId !== intentId) throw new Error('The card is for another intent.')
      if (header.merchantHost !== location.hostname) throw new Error('The card is for ' + header.merchantHost + '.')
      const { number, expMonth, expYear, cvc } = await open(jwe)
      const end = String(expMonth).padStart(2, '0') + '/' + String(expYear).slice(-2)
      const form = document.querySelector('form')
      for (const [name, value] of Object.entries({ number, end, cvc })) form.elements[name].value = value
      form.requestSubmit()
    },
  }
})()`
