/** The bundle of @simplewebauthn/browser sets the global `SimpleWebAuthnBrowser`. */
export {}
