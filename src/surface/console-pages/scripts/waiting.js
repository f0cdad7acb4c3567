import './page.js'
