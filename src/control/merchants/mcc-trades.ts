/**
 * Merchant category codes from 0700 to 5599: fields, contracts, transport, utilities, wholesale and large shops. The
 * codes are those of ISO 18245 and of the card schemes that add to it; the descriptions are our own words.
 */
export const tradeMccs = `
0742 Veterinary surgeons
0743 Wine growers
0744 Champagne growers
0763 Farmers’ cooperatives
0780 Gardening and landscaping
1520 Building contractors
1711 Heating, plumbing and air conditioning
1731 Electricians
1740 Masonry, tiling, plastering and insulation
1750 Carpenters
1761 Roofing, siding and sheet metal
1771 Concrete work
1799 Other trades of construction
2741 Publishing and printing
2791 Typesetting and platemaking
2842 Cleaning and polishing preparations
4011 Rail freight
4111 Local and commuter transport, ferries too
4112 Passenger railways
4119 Ambulances
4121 Taxis and limousines
4131 Coaches and bus lines
4214 Road haulage, removals and local delivery
4215 Couriers and freight forwarders
4225 Warehouses and storage
4411 Cruises and passenger ships
4457 Boat hire
4468 Marinas and their supplies
4511 Airlines without a code of their own
4582 Airports and terminals
4722 Travel agencies and tour operators
4723 Package tours in Germany
4784 Tolls and bridges
4789 Other transport
4812 Telephones and telecommunication equipment
4813 Telephone calls by access number
4814 Telephone and mobile services
4815 Monthly telephone bills
4816 Network and information services, hosting
4821 Telegrams
4829 Money transfers
4899 Cable, satellite and streaming television
4900 Electricity, gas, water and waste
5013 Vehicle parts, wholesale
5021 Office furniture
5039 Building materials, wholesale
5044 Office and photographic equipment
5045 Computers and their accessories
5046 Commercial equipment
5047 Medical and dental equipment
5051 Metals
5065 Electrical parts and equipment
5072 Tools and hardware, wholesale
5074 Plumbing and heating supplies
5085 Industrial supplies
5094 Precious metals, stones and watches
5099 Other durable goods
5111 Paper and office supplies, wholesale
5122 Medicines, wholesale
5131 Fabrics and dry goods
5137 Uniforms and work clothes
5139 Shoes, wholesale
5169 Chemicals
5172 Petroleum products
5192 Books, magazines and newspapers, wholesale
5193 Flowers and plants, wholesale
5198 Paints, wholesale
5199 Other goods that do not last
5200 Home improvement warehouses
5211 Timber and building materials
5231 Glass, paint and wallpaper
5251 Hardware shops
5261 Garden centres and nurseries
5262 Marketplaces
5271 Mobile homes
5300 Wholesale clubs
5309 Duty-free shops
5310 Discount shops
5311 Department stores
5331 Variety stores
5399 General merchandise
5411 Supermarkets and groceries
5422 Butchers and frozen meat
5441 Sweets and nuts
5451 Dairies
5462 Bakeries
5499 Convenience and speciality food
5511 Car dealers, new and used
5521 Car dealers, used
5531 Car and home supplies
5532 Tyres
5533 Car parts and accessories
5541 Petrol stations
5542 Fuel from automatic pumps
5551 Boat dealers
5552 Charging of electric vehicles
5561 Caravans and trailers
5571 Motorcycles
5592 Motor homes
5598 Snowmobiles
5599 Other vehicle dealers
`
