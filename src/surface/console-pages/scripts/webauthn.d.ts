/** The bundle of @simplewebauthn/browser: it sets `SimpleWebAuthnBrowser` of the page. */
export {}
